/**
 * The parser with which Stately's editor extension and Studio read machines from source files. It must find in each file of
 * `src/machines` what XState runs. Its package is made for XState 4, and also reads the form of version 5.
 */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { findMachines } from '../../docs/machines-page.ts';
import { ROOT } from '../house/sources.ts';
import { npmProgram, withPrograms } from './support/installed.ts';

/** The part of the parser that the test uses. */
interface Extractor {
  extractMachinesFromFile(text: string): { machines: { toConfig(): Extracted }[] } | null;
}

/** A named action or guard, as the parser returns it; `kind` is `inline` for a function. */
interface Named {
  kind: string;
  type?: string;
  params?: object;
  action?: { type: string; params: object };
}
interface ExtractedTransition {
  target?: string;
  cond?: Named;
  actions?: Named | Named[];
}
interface Extracted {
  initial?: string;
  type?: string;
  description?: string;
  entry?: Named | Named[];
  exit?: Named | Named[];
  on?: Record<string, ExtractedTransition | ExtractedTransition[]>;
  states?: Record<string, Extracted>;
}

/** A machine's definition, as XState reads it. */
type Reference = string | { type: string; params?: object };
interface Transition {
  target?: string;
  guard?: Reference;
  actions?: Reference | Reference[];
}
interface Config {
  initial?: string;
  type?: string;
  description?: string;
  entry?: Reference | Reference[];
  exit?: Reference | Reference[];
  on?: Record<string, string | Transition | Transition[]>;
  states?: Record<string, Config>;
}

const listed = <Value>(value: Value | Value[] | undefined): Value[] =>
  value === undefined ? [] : ([value].flat() as Value[]);

const named = (type: string, params: object | undefined) =>
  `${type} ${JSON.stringify(params ?? {})}`;
const ofReference = (each: Reference) =>
  typeof each === 'string' ? named(each, {}) : named(each.type, each.params);
const ofNamed = ({ kind, type, params, action }: Named) =>
  kind === 'named' ? named(action?.type ?? type ?? '', action?.params ?? params) : kind;

/** What both readers must agree on. */
interface Read {
  initial: string | undefined;
  type: string | undefined;
  description: string | undefined;
  entry: string[];
  exit: string[];
  on: Record<string, { target: string | undefined; guard: string[]; actions: string[] }[]>;
  states: Record<string, Read>;
}

const mapped = <From, To>(record: Record<string, From> | undefined, to: (value: From) => To) =>
  Object.fromEntries(Object.entries(record ?? {}).map(([name, value]) => [name, to(value)]));

function byXState({ initial, type, description, entry, exit, on, states }: Config): Read {
  return {
    ...{ initial, type, description },
    entry: listed(entry).map(ofReference),
    exit: listed(exit).map(ofReference),
    on: mapped(on, (outcomes) =>
      listed<string | Transition>(outcomes).map((each) => {
        const { target, guard, actions }: Transition =
          typeof each === 'string' ? { target: each } : each;
        const guards = listed(guard).map(ofReference);
        return { target, guard: guards, actions: listed(actions).map(ofReference) };
      }),
    ),
    states: mapped(states, byXState),
  };
}

function byStately({ initial, type, description, entry, exit, on, states }: Extracted): Read {
  return {
    ...{ initial, type, description },
    entry: listed(entry).map(ofNamed),
    exit: listed(exit).map(ofNamed),
    on: mapped(on, (outcomes) =>
      listed(outcomes).map(({ target, cond, actions }) => ({
        target,
        guard: listed(cond).map(ofNamed),
        actions: listed(actions).map(ofNamed),
      })),
    ),
    states: mapped(states, byStately),
  };
}

const installed = await npmProgram('@xstate/machine-extractor', '0.16.0', {
  beside: ['xstate@4.38.3'],
});
const machines = (await findMachines()).map((found) => ({ id: found.machine.id, ...found }));

withPrograms([installed], ({ folder }) => {
  const extractor: Extractor = createRequire(join(folder, 'package.json'))(
    '@xstate/machine-extractor',
  );
  const readBack = (text: string) => extractor.extractMachinesFromFile(text)?.machines ?? [];

  test.each(machines)('reads $id from its file, whole', ({ path, machine }) => {
    const found = readBack(readFileSync(join(ROOT, path), 'utf8'));
    expect(found).toHaveLength(1);
    expect(found.map((each) => byStately(each.toConfig()))).toEqual([
      byXState(machine.config as Config),
    ]);
  });

  test('a part that is not a literal is found', () => {
    const text =
      "export const m = setup({}).createMachine({ id: 'm', states: { a: { on: EVENTS } } });";
    const [found] = readBack(text);
    expect(found?.toConfig().states?.['a']?.on).toBeUndefined();
  });
});
