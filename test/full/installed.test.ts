/** A program is installed once, even if several processes need it at the same time. */
import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeOnce } from '../support/make-once.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import { npmProgram, pythonProgram, withPrograms } from './support/installed.ts';

const npm = await npmProgram('semver', '7.7.2');
withPrograms([npm], ({ bin, folder }) => {
  test('a program of npm runs', async () => {
    const child = Bun.spawn([process.execPath, bin('semver'), '--range', '^1.2.0', '1.3.0'], {
      stdout: 'pipe',
    });
    expect((await child.stdout.text()).trim()).toBe('1.3.0');
    expect(() => bin('no-such-command')).toThrow('no-such-command');
  });

  test('an installed program is found without the registry', async () => {
    const written = Bun.file(join(folder, '.complete')).lastModified;
    expect((await npmProgram('semver', '7.7.2')).installed).toBe(true);
    expect(Bun.file(join(folder, '.complete')).lastModified).toBe(written);
  });
});

const python = await pythonProgram('idna', '3.10');
withPrograms([python], ({ bin }) => {
  test('a library of PyPI can be imported', async () => {
    const child = Bun.spawn([bin('python'), '-c', 'import idna; print(idna.__version__)'], {
      stdout: 'pipe',
    });
    expect((await child.stdout.text()).trim()).toBe('3.10');
  });
});

describe('a folder that is made once', () => {
  const home = throwawayFolder('once');
  afterAll(() => removeFolder(home));

  test('is made once if two callers need it at the same time', async () => {
    const folder = join(home, 'two');
    let made = 0;
    const make = () =>
      makeOnce(folder, async () => {
        made += 1;
        await Bun.sleep(50);
      });
    await Promise.all([make(), make()]);
    expect(made).toBe(1);
    expect(existsSync(`${folder}.lock`)).toBe(false);
  });

  test('is made again if a killed process left half of it and its lock', async () => {
    const folder = join(home, 'half');
    mkdirSync(folder);
    writeFileSync(join(folder, 'half'), '');
    const dead = Bun.spawn(['true']);
    await dead.exited;
    writeFileSync(`${folder}.lock`, String(dead.pid));
    await makeOnce(folder, async () => writeFileSync(join(folder, 'whole'), ''));
    expect(existsSync(join(folder, 'half'))).toBe(false);
    expect(existsSync(join(folder, 'whole'))).toBe(true);
  });

  test('is removed if making it failed', async () => {
    const folder = join(home, 'failed');
    const making = makeOnce(folder, () => Promise.reject(new Error('no network')));
    expect(making).rejects.toThrow('no network');
    await making.catch(() => undefined);
    expect(existsSync(folder)).toBe(false);
    expect(existsSync(`${folder}.lock`)).toBe(false);
  });
});
