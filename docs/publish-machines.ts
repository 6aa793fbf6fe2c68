/**
 * Writes the files of `docs/machines/`, the page `docs/machines.md` and the diagrams of `docs/actors.md`.
 * After a change of a machine, run `bin/machines`. With `--to FOLDER`, writes only the files, into
 * that folder. With `--lay-out`, lays out all charts again. Arguments name the machines; default: all.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { machineFiles } from './machine-files/files.ts';
import { findMachines, machinesPage, withDiagrams } from './machines-page.ts';

/** Exit code for wrong arguments. */
const WRONG_ARGUMENTS = 2;

function argumentsOf(args: string[]) {
  try {
    return parseArgs({
      args,
      options: { to: { type: 'string' }, 'lay-out': { type: 'boolean' } },
      allowPositionals: true,
    });
  } catch (error) {
    console.error(`weir: ${(error as Error).message}`);
    process.exit(WRONG_ARGUMENTS);
  }
}

const { values, positionals } = argumentsOf(process.argv.slice(2));
const machines = await findMachines();
const ids = machines.map(({ machine }) => machine.id);
const unknown = positionals.filter((id) => !ids.includes(id));
if (unknown.length > 0) {
  console.error(`weir: there is no machine ${unknown.join(', ')}. Name one of ${ids.join(', ')}.`);
  process.exit(WRONG_ARGUMENTS);
}

const folder = values.to === undefined ? join(import.meta.dir, 'machines') : resolve(values.to);
mkdirSync(folder, { recursive: true });
for (const found of machines) {
  if (positionals.length > 0 && !positionals.includes(found.machine.id)) continue;
  for (const { name, text } of await machineFiles(found, { lay_out: values['lay-out'] === true })) {
    await Bun.write(join(folder, name), text);
    console.log(join(folder, name));
  }
}

if (values.to === undefined) {
  const actors = new URL('./actors.md', import.meta.url);
  await Bun.write(new URL('./machines.md', import.meta.url), await machinesPage());
  await Bun.write(actors, await withDiagrams(await Bun.file(actors).text()));
}

// ELK, which lays out charts, keeps the process alive.
process.exit(0);
