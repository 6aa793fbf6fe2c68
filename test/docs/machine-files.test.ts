import { afterAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { machineFiles } from '../../docs/machine-files/files.ts';
import { findMachines } from '../../docs/machines-page.ts';
import { ROOT } from '../house/sources.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';

const machines = await findMachines();
const named = machines.map((found) => ({ id: found.machine.id, ...found }));
const FOLDER = join(ROOT, 'docs/machines');

/** The text between `.createMachine(` and the bracket that closes it, which ends the file. */
const literalIn = (source: string) => /\.createMachine\((\{[\s\S]*\})\);\s*$/.exec(source)?.[1];

describe('docs/machines', () => {
  test.each(named)(
    'the files of $id are up to date: after a change, run "bin/machines"',
    async (found) => {
      for (const { name, text } of await machineFiles(found)) {
        expect(readFileSync(join(FOLDER, name), 'utf8')).toBe(text);
      }
    },
  );

  test('has no other files', async () => {
    const files = await Promise.all(machines.map((found) => machineFiles(found)));
    const names = files.flat().map(({ name }) => name);
    expect(readdirSync(FOLDER).sort()).toEqual(names.sort());
  });
});

describe('the file of a machine opens in Stately Studio as it is', () => {
  test.each(named)('$id is one literal without names from outside', ({ path, machine }) => {
    const source = readFileSync(join(ROOT, path), 'utf8');
    expect(source.match(/\bcreateMachine\(/g)).toHaveLength(1);
    // Evaluated alone, a name from outside would throw.
    const literal = new Function(`'use strict'; return (${literalIn(source)});`)();
    expect(literal).toEqual(machine.config);
    expect(JSON.parse(JSON.stringify(literal))).toEqual(literal);
    // The editor extension reads no tabs.
    expect(source).not.toContain('\t');
  });

  test.each(named)('each state of $id says what it is', ({ machine }) => {
    const states = Object.values(machine.states).flatMap(function all(node): (typeof node)[] {
      return [node, ...Object.values(node.states).flatMap(all)];
    });
    expect(states.filter(({ description }) => !description).map(({ id }) => id)).toEqual([]);
  });

  test('the check finds a name from outside', () => {
    const source = "export const m = setup({}).createMachine({ id: 'm', initial: FIRST });\n";
    expect(() => new Function(`return (${literalIn(source)})`)()).toThrow('FIRST');
  });
});

describe('bin/machines', () => {
  const folder = throwawayFolder('machines');
  afterAll(() => removeFolder(folder));
  const run = (...args: string[]) => Bun.spawnSync([join(ROOT, 'bin/machines'), ...args]);

  test('writes the files of one machine into a folder', () => {
    const { exitCode, stdout } = run('task', '--to', join(folder, 'new'));
    expect(exitCode).toBe(0);
    const written = readdirSync(join(folder, 'new')).sort();
    expect(written).toContain('task.scxml');
    expect(written.every((name) => name.startsWith('task.'))).toBe(true);
    const printed = stdout.toString().trim().split('\n');
    expect(printed.sort()).toEqual(written.map((name) => join(folder, 'new', name)).sort());
    for (const name of written) {
      const text = readFileSync(join(folder, 'new', name), 'utf8');
      expect(text).toBe(readFileSync(join(FOLDER, name), 'utf8'));
    }
  });

  test.each([
    [['bogus'], 'there is no machine bogus'],
    [['--bogus'], '--bogus'],
    [['--to'], '--to'],
  ])('refuses %j', (args, why) => {
    const { exitCode, stderr } = run(...args);
    expect(exitCode).toBe(2);
    expect(stderr.toString()).toContain(why);
  });
});
