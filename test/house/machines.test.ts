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

/** All values of a machine's definition under a key, at any depth. */
function valuesOf(key: string, node: unknown): unknown[] {
  if (Array.isArray(node)) return node.flatMap((item) => valuesOf(key, item));
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) => [
    ...(name === key ? [value].flat() : []),
    ...valuesOf(key, value),
  ]);
}

/** The names in a guard or an action, parametrized or not. */
function nameOf(reference: unknown): unknown {
  return typeof reference === 'object' && reference !== null && 'type' in reference
    ? reference.type
    : reference;
}

describe('the machines', () => {
  test('are found', () => {
    expect(machines.length).toBeGreaterThan(0);
  });

  test.each(machines)('$name is data: its definition survives JSON', ({ machine }) => {
    // A function that makes the first context from the input is the one exception.
    const { context, ...definition } = machine.config as Record<string, unknown>;
    const data = typeof context === 'function' ? definition : { context, ...definition };
    expect(JSON.parse(JSON.stringify(data))).toEqual(data);
  });

  test.each(machines)('$name names guards and actions that it has', ({ machine }) => {
    const { guards, actions } = machine.implementations;
    const named_guards = valuesOf('guard', machine.config).map(nameOf);
    const named_actions = ['actions', 'entry', 'exit']
      .flatMap((key) => valuesOf(key, machine.config))
      .map(nameOf);
    expect(named_guards.filter((name) => !Object.hasOwn(guards ?? {}, String(name)))).toEqual([]);
    expect(named_actions.filter((name) => !Object.hasOwn(actions ?? {}, String(name)))).toEqual([]);
  });

  test.each(machines)('$name neither waits nor calls anybody', ({ machine }) => {
    expect(valuesOf('after', machine.config)).toEqual([]);
    expect(valuesOf('invoke', machine.config)).toEqual([]);
  });

  test.each(files)('%s knows neither clock nor chance', (path) => {
    const text = readFileSync(join(ROOT, path), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    expect(text).not.toMatch(
      /\bDate\b|Math\.random|\bcrypto\b|setTimeout|setInterval|performance\./,
    );
  });
});
