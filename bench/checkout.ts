/** Copies of the project in temporary folders: a commit, and the current working tree. */
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CACHE = join(ROOT, '.cache');

/**
 * Runs the copy's own `bin/lib/prepare.sh`. This script finds the root of the copy through `$0`.
 */
const PREPARE = '. "$(dirname -- "$0")/lib/prepare.sh" && prepare';

export interface Checkout {
  root: string;
  /** Starts this version of Weir. */
  weir: string[];
  /** Starts this version of the simulator. */
  simulator: string[];
}

/** @throws if git knows no such commit. */
export async function resolveCommit(name: string): Promise<string> {
  const found = await run(['git', 'rev-parse', '--verify', '--quiet', `${name}^{commit}`]).catch(
    () => undefined,
  );
  if (found === undefined) throw new Error(`git knows no commit ${name}.`);
  return found.trim();
}

/** Unpacks the commit's files into `folder` and installs the packages. */
export async function checkOut(commit: string, folder: string): Promise<Checkout> {
  mkdirSync(folder);
  await run(['sh', '-c', 'git archive --format=tar "$0" | tar -x -C "$1"', commit, folder]);
  return prepared(folder);
}

/** Copies the working tree's files, so that an edit during the measurement has no effect. */
export async function copyWorkingTree(folder: string): Promise<Checkout> {
  mkdirSync(folder);
  const listed = await run(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  const present = listed.split('\0').filter((path) => path && existsSync(join(ROOT, path)));
  await run(
    ['sh', '-c', 'tar -c --null --no-recursion -T - | tar -x -C "$0"', folder],
    present.join('\0'),
  );
  return prepared(folder);
}

/** True if the simulators of both copies have the same files. */
export async function sameSimulator(a: Checkout, b: Checkout): Promise<boolean> {
  const folders = [a, b].map(({ root }) => join(root, 'simulator'));
  return run(['diff', '-rq', ...folders]).then(
    () => true,
    () => false,
  );
}

/**
 * Installs the packages. The copies can share `.cache`, because the name of the Bun in it contains
 * its version.
 */
async function prepared(root: string): Promise<Checkout> {
  mkdirSync(CACHE, { recursive: true });
  symlinkSync(CACHE, join(root, '.cache'));
  const start = join(root, 'bin', 'start');
  await run(['sh', '-c', PREPARE, start]);
  const simulator = `${PREPARE} && exec "$BUN" "$ROOT/simulator/main.ts" "$@"`;
  return { root, weir: [start], simulator: ['sh', '-c', simulator, start] };
}

/** @throws with the command's output if it fails. */
async function run(command: string[], input = ''): Promise<string> {
  const child = Bun.spawn(command, {
    cwd: ROOT,
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [output, complaint] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed: ${complaint}`);
  return output;
}
