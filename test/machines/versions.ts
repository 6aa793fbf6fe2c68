/**
 * The published versions of the durable machines (versions.json). Rows hold snapshots and events of
 * all these versions. So a machine must not change without a new version, and every snapshot of an
 * earlier version must have a way to the current version.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AnyEventObject, initialTransition } from 'xstate';
import { statePath, takeEvent } from '../../src/replay/step.ts';
import { restoreSnapshot, storedSnapshot } from '../../src/replay/stored-snapshot.ts';
import type { VersionedMachine } from '../../src/replay/versioned.ts';
import { jsonType, type Sample, samplesOf } from './samples.ts';
import { shapeOf } from './shape.ts';

export const VERSIONS_FILE = join(import.meta.dir, 'versions.json');

/** A durable machine, and events of each type that it knows. */
export interface DurableMachine {
  kind: string;
  versioned: VersionedMachine;
  events: readonly AnyEventObject[];
}

/** What is published of one version of a machine. */
export interface PublishedVersion {
  version: number;
  shape: string[];
  /** The types that each member of the context can have. */
  context: Record<string, string[]>;
  samples: Sample[];
}

/** The published versions of each kind, the oldest first. */
export type Published = Record<string, PublishedVersion[]>;

/** Returns what is to be published of the machine's current version. */
export function describeVersion({ versioned, events }: DurableMachine): PublishedVersion {
  const samples = samplesOf(versioned.machine, events);
  const types: Record<string, Set<string>> = {};
  for (const { snapshot } of samples) {
    for (const [name, value] of Object.entries(snapshot.context)) {
      types[name] ??= new Set();
      types[name].add(jsonType(value));
    }
  }
  const context = Object.entries(types).map(([name, set]) => [name, [...set].sort()] as const);
  return {
    version: versioned.version,
    shape: shapeOf(versioned.machine),
    context: Object.fromEntries(context),
    samples,
  };
}

/**
 * Returns the published versions together with the machines' new versions. Never changes a version
 * that is published. Throws if a machine changed without a new version.
 */
export function addVersions(published: Published, machines: readonly DurableMachine[]): Published {
  const result: Published = { ...published };
  for (const machine of machines) {
    const versions = published[machine.kind] ?? [];
    const last = versions.at(-1)?.version ?? 0;
    if (machine.versioned.version === last + 1) {
      result[machine.kind] = [...versions, describeVersion(machine)];
    }
    const problems = findProblems(result, machine);
    if (problems.length > 0) throw new Error(problems.join('\n'));
  }
  return result;
}

/** Returns why rows of the published versions do not fit the machine; nothing if all is well. */
export function findProblems(published: Published, machine: DurableMachine): string[] {
  const { kind, versioned } = machine;
  const versions = published[kind] ?? [];
  const last = versions.at(-1)?.version;
  if (last !== versioned.version) {
    return [
      `Version ${versioned.version} of the machine ${kind} is not the latest published version, ` +
        `which is ${last ?? 'none'}. Versions rise by one. Run "bun run machines".`,
    ];
  }
  return versions.flatMap((each) => [
    ...findChanges(machine, each),
    ...each.samples.flatMap((sample) => findSampleProblems(machine, each, versions, sample)),
  ]);
}

/** Compares a published version with the machine of that version. */
function findChanges({ kind, versioned, events }: DurableMachine, old: PublishedVersion): string[] {
  const name = `${kind} version ${old.version}`;
  const isCurrent = old.version === versioned.version;
  const found = isCurrent
    ? versioned
    : versioned.earlier?.find(({ version }) => version === old.version);
  if (!found) {
    return [
      `${name} has no machine, so its event logs cannot be replayed. Keep a copy of the machine ` +
        'of that version, and name it in "earlier".',
    ];
  }
  const { shape, context } = describeVersion({ kind, versioned: found, events });
  const changes = [
    ...shape.filter((line) => !old.shape.includes(line)).map((line) => `+ ${line}`),
    ...old.shape.filter((line) => !shape.includes(line)).map((line) => `- ${line}`),
    ...typesOf(context)
      .filter((line) => !typesOf(old.context).includes(line))
      .map((line) => `+ ${line}`),
    ...Object.keys(old.context)
      .filter((each) => !(each in context))
      .map((each) => `- context.${each}`),
    ...old.samples.flatMap((sample) => findOtherEnd(found, sample)),
  ];
  if (changes.length === 0 && !Bun.deepEquals(shape, old.shape)) changes.push('another order');
  if (changes.length === 0) return [];
  return [[`${name} changed:`, ...changes.slice(0, MAX_SHOWN_CHANGES), ADVICE].join('\n')];
}

const MAX_SHOWN_CHANGES = 20;

const ADVICE = `Stored rows hold snapshots and events of this version. So make a new version:
1. Put the machine back as it was into a file of its own, and name it in "earlier" of the kind.
2. Raise "version" of the kind by one.
3. Add "migrate", which converts a stored snapshot of the earlier version.
4. Run "bun run machines", which adds the new version to test/machines/versions.json.
If no release and no merged change has this version yet, delete its entry there and do only step 4.`;

const typesOf = (context: PublishedVersion['context']) =>
  Object.entries(context).flatMap(([name, types]) =>
    types.map((type) => `context.${name}: ${type}`),
  );

/** Reports a sample whose events lead to another snapshot now. */
function findOtherEnd({ machine }: VersionedMachine, { events, snapshot }: Sample): string[] {
  let [end] = initialTransition(machine);
  for (const event of events) [end] = takeEvent(machine, end, event);
  const found = JSON.parse(JSON.stringify(storedSnapshot(end)));
  if (Bun.deepEquals(found, snapshot)) return [];
  const path = events.map(({ type }) => type).join(' ');
  return [`+ ${path}: ${JSON.stringify(found)}`, `- ${path}: ${JSON.stringify(snapshot)}`];
}

/** Converts a sample to the current version, and sends each event to it. */
function findSampleProblems(
  { kind, versioned, events }: DurableMachine,
  { version }: PublishedVersion,
  versions: readonly PublishedVersion[],
  sample: Sample,
): string[] {
  const name = `${kind} version ${version}, ${JSON.stringify(sample.snapshot)}`;
  if (version !== versioned.version && !versioned.migrate) {
    return [`${name}: version ${versioned.version} has no "migrate".`];
  }
  const types = versions.at(-1)?.context ?? {};
  try {
    const snapshot = restoreSnapshot(versioned, {
      snapshot: sample.snapshot,
      machine_version: version,
    });
    const problems = findTypeProblems(snapshot.context, types);
    for (const event of events) {
      const [after] = takeEvent(versioned.machine, snapshot, event);
      statePath(after);
      problems.push(
        ...findTypeProblems(after.context, types).map((each) => `after ${event.type}: ${each}`),
      );
    }
    return [...new Set(problems)].map((each) => `${name}: ${each}`);
  } catch (error) {
    return [`${name}: ${String(error)}`];
  }
}

/** Compares a context with the published types of its members. */
function findTypeProblems(context: object, types: PublishedVersion['context']): string[] {
  const clean = JSON.parse(JSON.stringify(context)) as Record<string, unknown>;
  const missing = Object.keys(types).filter((name) => !(name in clean));
  const wrong = Object.entries(clean).filter(([name, value]) => {
    const type = jsonType(value);
    return !types[name]?.includes(type);
  });
  return [
    ...missing.map((name) => `context.${name} is missing`),
    ...wrong.map(([name, value]) => `context.${name} has the unknown type ${jsonType(value)}`),
  ];
}

export function readVersions(): Published {
  return existsSync(VERSIONS_FILE) ? JSON.parse(readFileSync(VERSIONS_FILE, 'utf8')) : {};
}

/** Returns the text of the file: a line for each state, event and sample, so that diffs are small. */
export function textOf(published: Published): string {
  const lines = (items: readonly unknown[], indent: string) =>
    items.map((item) => `\n${indent}${JSON.stringify(item)}`).join(',');
  const versionText = ({ version, shape, context, samples }: PublishedVersion) =>
    `\n    {
      "version": ${version},
      "shape": [${lines(shape, '        ')}
      ],
      "context": ${JSON.stringify(context)},
      "samples": [${lines(samples, '        ')}
      ]
    }`;
  const kinds = Object.entries(published).map(
    ([kind, versions]) =>
      `\n  ${JSON.stringify(kind)}: [${versions.map(versionText).join(',')}\n  ]`,
  );
  return `{${kinds.join(',')}\n}\n`;
}
