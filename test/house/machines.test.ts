import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AnyStateMachine, StateMachine } from 'xstate';
import { projectFiles, ROOT } from './sources.ts';

interface Found {
  name: string;
  machine: AnyStateMachine;
}

const files = projectFiles('src/machines/*.ts');
const machines: Found[] = [];
for (const path of files) {
  const exported: Record<string, unknown> = await import(join(ROOT, path));
  for (const [name, value] of Object.entries(exported)) {
    if (value instanceof StateMachine) machines.push({ name: `${path} ${name}`, machine: value });
  }
}

/** All values of a key in a machine's definition, at any depth. */
function valuesOf(key: string, node: unknown): unknown[] {
  if (Array.isArray(node)) return node.flatMap((item) => valuesOf(key, item));
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) => [
    ...(name === key ? [value].flat() : []),
    ...valuesOf(key, value),
  ]);
}

/** The name of a guard or an action, with or without parameters. */
function nameOf(reference: unknown): unknown {
  return typeof reference === 'object' && reference !== null && 'type' in reference
    ? reference.type
    : reference;
}

describe('the machines', () => {
  test('are found', () => {
    expect(machines.length).toBeGreaterThan(0);
  });

  test.each(machines)('$name is data: its definition can be written as JSON', ({ machine }) => {
    // The only exception is a function that creates the context from the input.
    const { context, ...definition } = machine.config as Record<string, unknown>;
    const data = typeof context === 'function' ? definition : { context, ...definition };
    expect(JSON.parse(JSON.stringify(data))).toEqual(data);
  });

  test.each(machines)('$name has all guards and actions that it names', ({ machine }) => {
    const { guards, actions } = machine.implementations;
    const named_guards = valuesOf('guard', machine.config).map(nameOf);
    const named_actions = ['actions', 'entry', 'exit']
      .flatMap((key) => valuesOf(key, machine.config))
      .map(nameOf);
    expect(named_guards.filter((name) => !Object.hasOwn(guards ?? {}, String(name)))).toEqual([]);
    expect(named_actions.filter((name) => !Object.hasOwn(actions ?? {}, String(name)))).toEqual([]);
  });

  test.each(machines)('$name has no timers and invokes nothing', ({ machine }) => {
    expect(valuesOf('after', machine.config)).toEqual([]);
    expect(valuesOf('invoke', machine.config)).toEqual([]);
  });

  test.each(files)('%s reads no clock and no random number', (path) => {
    const text = readFileSync(join(ROOT, path), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    expect(text).not.toMatch(
      /\bDate\b|Math\.random|\bcrypto\b|setTimeout|setInterval|performance\./,
    );
  });
});
