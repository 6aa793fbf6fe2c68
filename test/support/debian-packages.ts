/**
 * Gets programs from Debian's packages without installing them. The packages are downloaded with private apt
 * folders and unpacked below `.cache`. This needs no root and does not change the machine.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

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

async function download(work: string, packages: string[], optional: string[]): Promise<void> {
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

async function run(command: string[], cwd: string): Promise<void> {
  const child = Bun.spawn(command, {
    cwd,
    env: { ...process.env, LC_ALL: 'C' },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    timeout: APT_TIMEOUT_MS,
  });
  const [exit_code, complaint] = await Promise.all([
    child.exited,
    new Response(child.stderr).text(),
  ]);
  if (exit_code !== 0) throw new Error(`"${command.join(' ')}" failed: ${complaint.trim()}`);
}

/** Every folder that holds a shared library, such as `usr/lib/x86_64-linux-gnu`. */
function libraryFolders(root: string): string[] {
  const found = new Set<string>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (/^lib.*\.so\.\d/.test(entry.name)) found.add(entry.parentPath);
  }
  return [...found].filter((folder) => dirname(folder) !== folder);
}
