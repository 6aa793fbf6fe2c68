import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findMachines, machinesPage, withDiagrams } from '../../docs/machines-page.ts';
import { stateDiagram } from '../../docs/state-diagram.ts';
import { ROOT } from '../house/sources.ts';
import { mermaidBlocks } from './mermaid.ts';
import { documentPaths } from './pages.ts';

const machines = await findMachines();

/** The part of a machine's configuration that the diagram shows. */
interface Config {
  states?: Record<string, Config>;
  on?: Record<string, unknown>;
}

/** Names of all states, and of all events that lead to a state. */
function namesOf(config: Config): string[] {
  const events = Object.entries(config.on ?? {})
    .filter(([, outcomes]) => [outcomes].flat().some(hasTarget))
    .map(([event]) => event);
  const inner = Object.entries(config.states ?? {});
  return [...events, ...inner.flatMap(([name, state]) => [name, ...namesOf(state)])];
}

const hasTarget = (outcome: unknown) =>
  typeof outcome === 'string' || Object.hasOwn(outcome as object, 'target');

test('docs/machines.md agrees with src/machines: after a change, run "bun run machines"', async () => {
  const page = readFileSync(join(ROOT, 'docs/machines.md'), 'utf8');
  expect(page).toBe(await machinesPage());
});

test('the diagrams of docs/actors.md are those of src/machines', async () => {
  const page = readFileSync(join(ROOT, 'docs/actors.md'), 'utf8');
  expect(page).toContain('<!-- machine: task -->');
  expect(page).toBe(await withDiagrams(page));
});

describe('the state diagrams', () => {
  test('show the machines channel, quota and task', () => {
    const ids = machines.map(({ machine }) => machine.id);
    expect(ids).toEqual(expect.arrayContaining(['channel', 'quota', 'task']));
  });

  test.each(machines.map(({ machine }) => ({ id: machine.id, machine })))(
    '$id: each state, and each event that changes the state, is in the diagram',
    ({ machine }) => {
      const words = new Set(stateDiagram(machine).match(/\w+/g));
      const names = namesOf(machine.config as Config);
      expect(names.length).toBeGreaterThan(2);
      expect(names.filter((name) => !words.has(name))).toEqual([]);
    },
  );

  test('no other page has a handwritten state diagram', () => {
    const by_hand = documentPaths()
      .filter((path) => path !== 'docs/machines.md' && path !== 'docs/actors.md')
      .filter((path) => mermaidBlocks(path).some((text) => text.startsWith('stateDiagram')));
    expect(by_hand).toEqual([]);
  });
});
