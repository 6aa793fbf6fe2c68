/**
 * Programs of other projects for the tests of `bin/test --full`. Each is installed once, at an exact version,
 * below `.cache/programs`.
 *
 * ```ts
 * const prettier = await npmProgram('prettier', '3.6.2');
 * withPrograms([prettier], ({ bin }) => {
 *   test('formats', () => run(bin('prettier')));
 * });
 * ```
 */
import { test } from 'bun:test';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ALLOW_MISSING, recordMissing } from '../../runner/missing.ts';
import { makeOnce } from '../../support/make-once.ts';

const PROGRAMS_DIR = fileURLToPath(new URL('../../../.cache/programs', import.meta.url));
const INSTALL_TIMEOUT_MS = 300_000;
const COMPLAINT_MAX_CHARS = 500;

export interface InstalledProgram {
  installed: true;
  /** `NAME@VERSION`. */
  name: string;
  folder: string;
  /** Returns the path of one of the program's commands. */
  bin(command: string): string;
}

interface MissingProgram {
  installed: false;
  name: string;
  why: string;
  /** True if the machine may lack the program. Then its tests are skipped. */
  optional?: true;
}

export type Program = InstalledProgram | MissingProgram;

export interface NpmOptions {
  /** Packages whose install scripts may run; default: none. */
  trusted?: readonly string[];
  /** Packages that are installed beside the program, each as `NAME@VERSION`. */
  beside?: readonly string[];
}

/**
 * Installs a program of the npm registry. The program's first line says whether Node or Bun runs
 * it.
 */
export function npmProgram(
  name: string,
  version: string,
  { trusted = [], beside = [] }: NpmOptions = {},
): Promise<Program> {
  return installProgram(`${name}@${version}`, join('node_modules', '.bin'), async (folder) => {
    const manifest = { name: 'installed', private: true, trustedDependencies: trusted };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    await runInstaller(
      [process.execPath, 'add', '--exact', `${name}@${version}`, ...beside],
      folder,
    );
  });
}

/**
 * Installs a program or library of PyPI in its own virtual environment. `bin('python')` is the
 * Python of that environment.
 */
export function pythonProgram(
  name: string,
  version: string,
  beside: readonly string[] = [],
): Promise<Program> {
  return installProgram(`python-${name}@${version}`, 'bin', async (folder) => {
    const python = Bun.which('python3');
    if (python === null) throw new Error('python3 is not on this machine');
    await runInstaller([python, '-m', 'venv', folder], folder);
    const pip = [join(folder, 'bin', 'python'), '-m', 'pip', '--disable-pip-version-check'];
    await runInstaller([...pip, 'install', '--quiet', `${name}==${version}`, ...beside], folder);
  });
}

/**
 * Finds a program that must be on the machine, such as Node.
 *
 * @public used by tests that are started as programs
 */
export function machineProgram(command: string): Program {
  const path = Bun.which(command);
  if (path === null) return missing(command, 'not on this machine');
  return { installed: true, name: command, folder: join(path, '..'), bin: () => path };
}

/** Finds a program that the machine may lack, such as the compiler of another language. */
export function optionalProgram(command: string): Program {
  const found = machineProgram(command);
  return found.installed ? found : { ...found, optional: true };
}

/**
 * Registers the tests in `body` if all programs are installed. Otherwise each missing program is one
 * failed test. It is one skipped test if it is optional, or under `--allow-missing`.
 */
export function withPrograms(
  programs: readonly Program[],
  body: (...installed: InstalledProgram[]) => void,
): void {
  const installed = programs.filter((program) => program.installed);
  if (installed.length === programs.length) {
    body(...installed);
    return;
  }
  for (const program of programs) {
    if (program.installed) continue;
    if (program.optional) {
      test.skip(`all of it, because ${program.name} is ${program.why}`, () => undefined);
      continue;
    }
    const missingTest = process.env[ALLOW_MISSING] ? test.skip : test;
    missingTest(`${program.name} is installed`, () => {
      throw new Error(`${program.name} could not be installed: ${program.why}`);
    });
  }
}

/**
 * Runs `make` once for all processes, in a folder below `.cache/programs`.
 *
 * @param name `NAME@VERSION`. It is the name of the folder.
 * @param bin_folder The folder of the program's commands, below that folder.
 */
export async function installProgram(
  name: string,
  bin_folder: string,
  make: (folder: string) => Promise<void>,
): Promise<Program> {
  const folder = join(PROGRAMS_DIR, name);
  try {
    await makeOnce(folder, async () => {
      console.error(`weir: installing ${name} (once) …`);
      await make(folder);
    });
  } catch (error) {
    return missing(name, (error as Error).message);
  }
  const bin = (command: string) => {
    const path = join(folder, bin_folder, command);
    if (!existsSync(path)) throw new Error(`${name} has no command ${command}`);
    return path;
  };
  return { installed: true, name, folder, bin };
}

function missing(name: string, why: string): MissingProgram {
  recordMissing({ what: name, why });
  return { installed: false, name, why };
}

/**
 * Runs one command of an installation.
 *
 * @throws with the end of what the command wrote to stderr, if it fails.
 */
export async function runInstaller(
  command: string[],
  cwd: string,
  {
    env = process.env,
    timeout_ms = INSTALL_TIMEOUT_MS,
  }: { env?: Record<string, string | undefined>; timeout_ms?: number } = {},
): Promise<void> {
  const child = Bun.spawn(command, {
    cwd,
    env,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    timeout: timeout_ms,
  });
  const [exit_code, complaint] = await Promise.all([child.exited, child.stderr.text()]);
  if (exit_code === 0) return;
  const end = complaint.trim().slice(-COMPLAINT_MAX_CHARS);
  const outcome = child.signalCode === null ? 'failed' : `was ended after ${timeout_ms / 1_000} s`;
  throw new Error(`"${command.slice(1).join(' ')}" ${outcome}: ${end.replaceAll('\n', ' ')}`);
}
