import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../house/sources.ts';
import { freePort } from '../support/ports.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import { type Fence, fencesOf, textOf } from './pages.ts';

/** The address of Weir in the README. */
const ADDRESS = 'localhost:3999';

export interface ReadmeWeir {
  weir: RunningWeir;
  /** Address of the webhook receiver. */
  receiver: string;
  /** The first webhook that the receiver received. */
  webhook: Promise<{ headers: Record<string, string>; body: string }>;
  /** The folder in which the blocks run. */
  folder: string;
  stop(): Promise<void>;
}

/** Starts Weir as the README does, and creates a folder for the blocks. */
export async function startReadmeWeir(): Promise<ReadmeWeir> {
  const received = Promise.withResolvers<{ headers: Record<string, string>; body: string }>();
  const server = Bun.serve({
    port: await freePort(),
    hostname: '127.0.0.1',
    async fetch(request) {
      received.resolve({ headers: request.headers.toJSON(), body: await request.text() });
      return new Response();
    },
  });
  const receiver = `127.0.0.1:${server.port}`;
  const parent = throwawayFolder('readme');
  const folder = mkdtempSync(join(parent, 'run-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  // With these settings, a refused call fails its block, and each answer has its own line.
  writeFileSync(join(folder, '.curlrc'), 'fail-with-body\nwrite-out = "\\n"\n');
  const weir = await startWeir({
    random_credentials: true,
    env: { WEIR_WEBHOOK_ALLOW_HOSTS: receiver, WEIR_DASHBOARD: 'on' },
  });
  return {
    weir,
    receiver,
    webhook: received.promise,
    folder,
    async stop() {
      await weir.stop();
      await server.stop(true);
      removeFolder(parent);
    },
  };
}

const unused = new Set(fencesOf(textOf('README.md')));

/** The README's only block that contains `words`. @throws if there is none, or more than one. */
export function blockWith(words: string): Fence {
  const [block, other] = fencesOf(textOf('README.md')).filter(({ text }) => text.includes(words));
  if (!block || other) throw new Error(`The README must have exactly one block with "${words}"`);
  for (const each of unused) if (each.line === block.line) unused.delete(each);
  return block;
}

/** The README's blocks that no test has used. */
export const unusedBlocks = () => [...unused].map(({ line, text }) => `${line}: ${text}`);

/** The commands of a console block, without the shown answers. */
export function commandsOf(block: Fence): string {
  const lines = block.text.split('\n');
  const commands = lines.filter(
    (line, index) => line.startsWith('$ ') || lines[index - 1]?.endsWith('\\'),
  );
  return commands.map((line) => line.replace(/^\$ /, '')).join('\n');
}

/** The answer that a console block shows below its commands. */
export function shownBy(block: Fence): string {
  const lines = block.text.split('\n');
  const last = lines.findLastIndex(
    (line, index) => line.startsWith('$ ') || lines[index - 1]?.endsWith('\\'),
  );
  return lines.slice(last + 1).join('\n');
}

/** Runs commands in a shell. @throws with all output if one fails. */
export function runShell(at: ReadmeWeir, commands: string, args: string[] = []): Promise<string> {
  return run(at, ['sh', '-ec', here(at, commands), 'README', ...args]);
}

/** Runs TypeScript blocks as one program and returns its output. */
export async function runProgram(at: ReadmeWeir, blocks: string[]): Promise<string> {
  const file = join(at.folder, `program-${blocks.join('').length}.ts`);
  writeFileSync(file, here(at, `${blocks.join('\n')}\nexport {};\n`));
  return await run(at, [process.execPath, file]);
}

const here = (at: ReadmeWeir, text: string) =>
  text.replaceAll(ADDRESS, `localhost:${at.weir.port}`);

async function run(at: ReadmeWeir, command: string[]): Promise<string> {
  const child = Bun.spawn(command, {
    cwd: at.folder,
    env: {
      ...process.env,
      CURL_HOME: at.folder,
      WEIR_KEY: at.weir.api_key,
      WEIR_MANAGEMENT_TOKEN: at.weir.management_token,
    },
    stdin: 'ignore',
    stderr: 'pipe',
    stdout: 'pipe',
  });
  const [out, error] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(`${command.at(-1)}\n${out}\n${error}`);
  return out;
}

/** Sorted names of the members in a JSON text, which may be abbreviated with `…`. */
export function membersOf(text: string): string[] {
  return [...new Set([...text.matchAll(/"(\w+)":/g)].map((match) => match[1] ?? ''))].sort();
}

/** The output of a program according to its comments. */
export function promisedBy(block: Fence): string[] {
  return block.text.split('\n').flatMap((line) => /^\/\/ (.+)$/.exec(line)?.slice(1) ?? []);
}
