/**
 * Clients in Go and Java. Their packages are downloaded once, at the exact versions of `go.mod` and
 * `pom.xml`, below `.cache/programs`. The clients themselves are compiled by each run of the tests.
 *
 * Go and Java are optional: on a machine without them, the tests are skipped.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type InstalledProgram,
  installProgram,
  optionalProgram,
  type Program,
  runInstaller,
} from '../../full/support/installed.ts';

const GO_SOURCE = join(import.meta.dir, '..', 'go');
const JAVA_SOURCE = join(import.meta.dir, '..', 'java');
const MAVEN_DEPENDENCIES = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';
/** Other tests run beside a compiler. */
const NICE = ['nice', '-n', '5'];
const HASH_CHARS = 12;

/** Without optimization and debug data, a first build needs a third of the time. */
const GO_BUILD = ['go', 'build', '-gcflags=all=-N -l -dwarf=false', '-ldflags=-s -w'];

/** A first build needs 80 s of a core. On a busy machine, that may take ten times as long. */
const GO_TIMEOUT_MS = 900_000;

/** The command that runs a compiled client. Its arguments are address, key and model. */
export type Command = readonly string[];

/** Downloads and compiles the packages of the vendors. */
export async function goPackages(packages: readonly string[]): Promise<Program> {
  const go = optionalProgram('go');
  if (!go.installed) return go;
  const name = `go-clients@${hashOf(GO_SOURCE, ['go.mod', 'go.sum'])}`;
  return await installProgram(name, 'bin', async (folder) => {
    await runInstaller([...NICE, ...GO_BUILD, ...packages], GO_SOURCE, {
      ...{ env: goEnvironment(folder), timeout_ms: GO_TIMEOUT_MS },
    });
  });
}

/** Compiles the Go client into a folder. */
export async function compileGo({ folder }: InstalledProgram, into: string): Promise<Command> {
  const binary = join(into, 'client');
  const build = [...NICE, ...GO_BUILD, '-o', binary, '.'];
  await runInstaller(build, GO_SOURCE, { env: goEnvironment(folder) });
  return [binary];
}

function goEnvironment(folder: string): Record<string, string | undefined> {
  return {
    ...process.env,
    ...{ GOMODCACHE: join(folder, 'modules'), GOCACHE: join(folder, 'build') },
    // The cache must be removable, so its folders stay writable.
    ...{ GOFLAGS: '-mod=readonly -modcacherw -buildvcs=false', GOTOOLCHAIN: 'local' },
    ...{ CGO_ENABLED: '0', GOMAXPROCS: '2', GOMEMLIMIT: '2GiB' },
  };
}

/** Downloads the jars of the vendors. */
export async function javaPackages(): Promise<Program> {
  for (const command of ['javac', 'mvn']) {
    const found = optionalProgram(command);
    if (!found.installed) return found;
  }
  const name = `java-clients@${hashOf(JAVA_SOURCE, ['pom.xml'])}`;
  return await installProgram(name, 'bin', async (folder) => {
    const copy = [
      ...NICE,
      ...['mvn', '--quiet', '--batch-mode', `${MAVEN_DEPENDENCIES}:copy-dependencies`],
      `-Dmaven.repo.local=${join(folder, 'repository')}`,
      `-DoutputDirectory=${join(folder, 'jars')}`,
      '-DincludeScope=runtime',
    ];
    await runInstaller(copy, JAVA_SOURCE, {
      env: { ...process.env, MAVEN_OPTS: '-Xmx512m' },
    });
  });
}

/** Compiles the Java client into a folder. */
export async function compileJava({ folder }: InstalledProgram, into: string): Promise<Command> {
  const [jars, classes] = [join(folder, 'jars', '*'), join(into, 'classes')];
  mkdirSync(classes);
  const sources = [...new Bun.Glob('*.java').scanSync(JAVA_SOURCE)];
  // Google's package reads the names of parameters of functions.
  const compile = ['javac', '-J-Xmx1g', '-parameters', '-cp', jars, '-d', classes, ...sources];
  await runInstaller([...NICE, ...compile], JAVA_SOURCE);
  const memory = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
  return ['java', ...memory, '-cp', `${classes}:${jars}`, 'Client'];
}

function hashOf(folder: string, files: readonly string[]): string {
  const hasher = new Bun.CryptoHasher('sha256');
  for (const file of files) hasher.update(readFileSync(join(folder, file)));
  return hasher.digest('hex').slice(0, HASH_CHARS);
}
