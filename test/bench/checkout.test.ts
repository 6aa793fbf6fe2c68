/** Copies of the project that run without its folder. */
import { afterAll, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkOut, copyWorkingTree, resolveCommit, sameSimulator } from '../../bench/checkout.ts';
import { startSimulator } from '../support/simulator.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';

const folder = throwawayFolder('checkout');
afterAll(() => removeFolder(folder));

test('a commit that git does not know is refused', async () => {
  await expect(resolveCommit('no-such-commit')).rejects.toThrow(
    'git knows no commit no-such-commit',
  );
  expect(await resolveCommit('HEAD')).toMatch(/^[0-9a-f]{40}$/);
});

test('the working tree and a commit are copied to folders, and the commit’s simulator runs there', async () => {
  const now = await copyWorkingTree(join(folder, 'new'));
  const here = 'test/bench/checkout.test.ts';
  expect(readFileSync(join(now.root, here), 'utf8')).toBe(readFileSync(import.meta.path, 'utf8'));
  expect(existsSync(join(now.root, '.git'))).toBe(false);

  const old = await checkOut(await resolveCommit('HEAD'), join(folder, 'old'));
  expect(existsSync(join(old.root, 'node_modules/.weir-installed'))).toBe(true);
  expect(await sameSimulator(now, now)).toBe(true);
  await Bun.write(join(old.root, 'simulator/another.ts'), '');
  expect(await sameSimulator(old, now)).toBe(false);

  // The copy's simulator is changed to print another host. So its address shows that the copy's
  // simulator runs.
  const main = join(old.root, 'simulator/main.ts');
  await Bun.write(main, readFileSync(main, 'utf8').replaceAll('127.0.0.1', 'localhost'));
  const simulator = await startSimulator(old.simulator);
  expect(simulator.url).toStartWith('http://localhost:');
  expect((await fetch(`${simulator.url}/_sim/books`)).status).toBe(200);
  await simulator.stop();
});
