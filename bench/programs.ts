/** Finds the load generator and the reverse proxy, on PATH or in Debian's packages. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { unpackDebianPackages } from '../test/support/debian-packages.ts';

export interface Program {
  path: string;
  env: Record<string, string>;
}

const PACKAGES = {
  wrk: { packages: ['wrk'], optional: ['libluajit-5.1-2', 'libluajit-5.1-common'] },
  nginx: { packages: ['nginx', 'nginx-common'], optional: ['libpcre2-8-0', 'libcrypt1', 'zlib1g'] },
} as const;

/** Finds a program on PATH or downloads it. @throws with apt's message if neither works. */
export async function findProgram(name: keyof typeof PACKAGES): Promise<Program> {
  const found = Bun.which(name) ?? [`/usr/sbin/${name}`].find(existsSync);
  if (found) return { path: found, env: {} };
  const { packages, optional } = PACKAGES[name];
  const { root, library_dirs } = await unpackDebianPackages(name, [...packages], [...optional]);
  const path = ['usr/bin', 'usr/sbin'].map((dir) => join(root, dir, name)).find(existsSync);
  if (!path) throw new Error(`the Debian package of ${name} holds no ${name}`);
  return { path, env: { LD_LIBRARY_PATH: library_dirs.join(':') } };
}
