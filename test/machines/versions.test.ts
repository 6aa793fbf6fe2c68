/** No durable machine changes without a new version, and old rows fit the current version. */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assign, setup } from 'xstate';
import type { JsonValue } from '../../db/actors/store.ts';
import type { VersionedMachine } from '../../src/replay/versioned.ts';
import { projectFiles, ROOT } from '../house/sources.ts';
import { DURABLE } from './durable.ts';
import {
  addVersions,
  type DurableMachine,
  describeVersion,
  findProblems,
  type Published,
  readVersions,
  textOf,
  VERSIONS_FILE,
} from './versions.ts';

describe('the published versions', () => {
  const published = readVersions();

  test.each(DURABLE)(
    '$kind: the machine is the published one, and takes every old snapshot',
    (machine) => {
      expect(findProblems(published, machine).join('\n')).toBe('');
    },
  );

  test('name each durable kind of the code', () => {
    const kinds = projectFiles('src/**/*.ts').flatMap((path) => [
      ...readFileSync(join(ROOT, path), 'utf8').matchAll(/\w+_KIND = '(\w+)'/g),
    ]);
    expect(kinds.map(([, kind]) => kind).sort()).toEqual(Object.keys(published).sort());
  });

  test.each(DURABLE)('$kind: the events of the tests have each type of the machine', (machine) => {
    const types = machine.versioned.machine.events;
    expect(types.filter((type) => !machine.events.some((event) => event.type === type))).toEqual(
      [],
    );
  });

  test.each(DURABLE)('$kind: each state of the machine has a sample', ({ kind, versioned }) => {
    const states = describeVersion({ kind, versioned, events: [] })
      .shape.map((line) => /^(\S+): (atomic|final)/.exec(line)?.[1])
      .filter((state) => state !== undefined);
    const samples = (published[kind]?.at(-1)?.samples ?? []).map(({ snapshot }) =>
      JSON.stringify(snapshot.value),
    );
    expect(new Set(samples).size).toBe(states.length);
  });

  test('are written as the publisher writes them', () => {
    expect(readFileSync(VERSIONS_FILE, 'utf8')).toBe(textOf(addVersions(published, DURABLE)));
  });
});

/** A machine that waits, with a count. Each option changes it in one place. */
interface Options {
  version?: number;
  state?: string;
  member?: string;
  first?: JsonValue;
  step?: number;
  guarded?: boolean;
  migrate?: VersionedMachine['migrate'];
  earlier?: readonly VersionedMachine[];
}

function sampleMachine(options: Options = {}): DurableMachine {
  const { version = 1, state = 'waiting', member = 'count', first = 0, step = 1 } = options;
  const machine = setup({
    types: { context: {} as Record<string, unknown>, events: {} as { type: 'ADD' | 'END' } },
    actions: {
      add: assign(({ context }) => ({ [member]: Math.min(Number(context[member]) + step, 9) })),
    },
    guards: { isFull: () => false },
  }).createMachine({
    id: 'sample',
    context: { [member]: first },
    initial: state,
    states: {
      [state]: {
        on: {
          ADD: options.guarded ? { guard: 'isFull', actions: 'add' } : { actions: 'add' },
          END: 'ended',
        },
      },
      ended: { type: 'final' },
    },
  });
  const { migrate, earlier } = options;
  const versioned = { machine, version, ...(migrate && { migrate }), ...(earlier && { earlier }) };
  return { kind: 'sample', versioned, events: [{ type: 'ADD' }, { type: 'END' }] };
}

describe('a changed machine', () => {
  const first = sampleMachine();
  const published = addVersions({}, [first]);

  test('with the same version is refused: the message says what changed and what to do', () => {
    const changes: [Options, string][] = [
      [{ state: 'idle' }, '+ idle: atomic'],
      [{ guarded: true }, 'ADD; if isFull'],
      [{ member: 'sum' }, '- context.count'],
      [{ first: null }, '+ context.count: null'],
      [{ first: 2 }, '{"count":2}'],
    ];
    for (const [options, words] of changes) {
      const [problem] = findProblems(published, sampleMachine(options));
      expect(problem).toContain('sample version 1 changed');
      expect(problem).toContain(words);
      expect(problem).toContain('Raise "version" of the kind by one.');
      expect(() => addVersions(published, [sampleMachine(options)])).toThrow('sample version 1');
    }
  });

  const migrate: VersionedMachine['migrate'] = (stored) => {
    const { value, context } = stored as { value: string; context: { count: number } };
    return { value: value === 'waiting' ? 'idle' : value, context: { sum: context.count } };
  };
  const next: Options = { version: 2, state: 'idle', member: 'sum', earlier: [first.versioned] };

  test('with a new version and a migration is published, and the old version stays as it is', () => {
    const machine = sampleMachine({ ...next, migrate });
    const both = addVersions(published, [machine]);
    expect(both['sample']?.[0]).toEqual(published['sample']?.[0] as never);
    expect(both['sample']?.map(({ version }) => version)).toEqual([1, 2]);
    expect(findProblems(both, machine)).toEqual([]);
    expect(JSON.parse(textOf(both))).toEqual(both);
  });

  test.each<[name: string, options: Options, words: string]>([
    ['has no migration', next, 'version 2 has no "migrate"'],
    ['migrates to a missing state', { ...next, migrate: (stored) => stored }, 'waiting'],
    [
      'drops a member',
      { ...next, migrate: () => ({ value: 'idle', context: {} }) },
      'context.sum is missing',
    ],
    [
      'makes a member of another type',
      { ...next, migrate: () => ({ value: 'idle', context: { sum: 'one' } }) },
      'context.sum has the unknown type string',
    ],
    ['has lost the earlier machine', { ...next, migrate, earlier: [] }, 'has no machine'],
    ['leaves out a version', { ...next, migrate, version: 3 }, 'Versions rise by one'],
  ])('with a new version is refused if it %s', (_, options, words) => {
    expect(() => addVersions(published, [sampleMachine(options)])).toThrow(words);
  });

  test('that no version publishes is refused', () => {
    const none: Published = {};
    expect(findProblems(none, first).join()).toContain('bun run machines');
  });
});
