/**
 * Gets programs from Debian's packages without installing them. The packages are downloaded with private apt
 * folders and unpacked below `.cache`. This needs no root and does not change the machine.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeOnce } from './make-once.ts';

const CACHE_DIR = fileURLToPath(new URL('../../.cache', import.meta.url));
const APT_TIMEOUT_MS = 300_000;

/** A folder with the packages' `usr/…`, and the folders of their shared libraries. */
export interface UnpackedPackages {
  root: string;
  library_dirs: string[];
}

/**
 * Downloads and unpacks `packages` once. Later calls find them in `.cache/debian/<name>`.
 *
 * Packages in `optional` may be missing. Names of libraries differ between Debian's releases, and
 * most libraries are already on the machine.
 *
 * @throws with apt's message if apt is missing or a required package is not available.
 */
export async function unpackDebianPackages(
  name: string,
  packages: string[],
  optional: string[],
): Promise<UnpackedPackages> {
  const root = join(CACHE_DIR, 'debian', name);
  if (!existsSync(root)) {
    for (const tool of ['apt-get', 'dpkg-deb']) {
      if (Bun.which(tool) === null) throw new Error(`${tool} is not on this machine`);
    }
    console.error(`weir: downloading ${packages.join(', ')} from Debian's packages (once) …`);
    const work = join(CACHE_DIR, 'debian', `.${name}-${process.pid}`);
    try {
      await download(work, packages, optional);
      await unpack(work);
      // If two processes unpack at the same time, the first result stays.
      if (!existsSync(root)) renameSync(join(work, 'unpacked'), root);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
  return { root, library_dirs: libraryFolders(root) };
}

/**
 * Downloads and unpacks one package, with all packages that it needs and that the machine lacks, once.
 *
 * @throws with apt's message if apt is missing or the package is not available.
 */
export async function unpackWithDependencies(name: string): Promise<UnpackedPackages> {
  const folder = join(CACHE_DIR, 'debian', `${name}-with-dependencies`);
  await makeOnce(folder, async () => {
    console.error(`weir: downloading ${name} from Debian's packages (once) …`);
    const apt = await aptIn(folder);
    const install = ['install', '--simulate', '--yes', '--no-install-recommends', name];
    const plan = await run([...apt, ...install], folder);
    const needed = [...plan.matchAll(/^Inst (\S+)/gm)].map(([, each]) => each ?? '');
    await run([...apt, 'download', ...needed], join(folder, 'debs'));
    await unpack(folder);
    for (const each of ['debs', 'lists', 'cache']) rmSync(join(folder, each), { recursive: true });
  });
  const root = join(folder, 'unpacked');
  return { root, library_dirs: libraryFolders(root) };
}

/** Returns the command of apt with private folders below `work`, and reads the lists of packages. */
async function aptIn(work: string): Promise<string[]> {
  for (const folder of ['lists/partial', 'cache/archives/partial', 'debs', 'unpacked']) {
    mkdirSync(join(work, folder), { recursive: true });
  }
  const apt = [
    'apt-get',
    ...['-o', `Dir::State::lists=${join(work, 'lists')}`],
    ...['-o', `Dir::Cache=${join(work, 'cache')}`],
    ...['-o', 'Debug::NoLocking=1', '-o', 'APT::Sandbox::User=', '-o', 'Acquire::Retries=2'],
  ];
  await run([...apt, 'update'], work);
  return apt;
}

async function download(work: string, packages: string[], optional: string[]): Promise<void> {
  const apt = await aptIn(work);
  await run([...apt, 'download', ...packages], join(work, 'debs'));
  for (const one of optional) {
    await run([...apt, 'download', one], join(work, 'debs')).catch(() => {});
  }
}

async function unpack(work: string): Promise<void> {
  const debs = join(work, 'debs');
  for (const file of readdirSync(debs).filter((entry) => entry.endsWith('.deb'))) {
    await run(['dpkg-deb', '-x', join(debs, file), join(work, 'unpacked')], work);
  }
}

/** Runs a command and returns what it prints. */
async function run(command: string[], cwd: string): Promise<string> {
  const child = Bun.spawn(command, {
    cwd,
    env: { ...process.env, LC_ALL: 'C' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: APT_TIMEOUT_MS,
  });
  const [exit_code, complaint, output] = await Promise.all([
    child.exited,
    new Response(child.stderr).text(),
    new Response(child.stdout).text(),
  ]);
  if (exit_code !== 0) throw new Error(`"${command.join(' ')}" failed: ${complaint.trim()}`);
  return output;
}

/** Every folder that holds a shared library, such as `usr/lib/x86_64-linux-gnu`. */
function libraryFolders(root: string): string[] {
  const found = new Set<string>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (/^lib.*\.so(?:\.\d|$)/.test(entry.name)) found.add(entry.parentPath);
  }
  return [...found].filter((folder) => dirname(folder) !== folder);
}
