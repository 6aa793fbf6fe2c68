import { afterAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHAT_DIRECTIVES } from '../../simulator/shared/directives.ts';
import { importsOf, projectFiles, ROOT } from '../house/sources.ts';
import { startSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';

const MAIN = join(ROOT, 'simulator/main.ts');
const started: { kill(signal: NodeJS.Signals): void }[] = [];

afterAll(() => {
  for (const process of started) process.kill('SIGKILL');
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('the simulator as a process', () => {
  test('prints one line when it listens and ends with code 0 on SIGTERM', async () => {
    const child = Bun.spawn([process.execPath, MAIN, '--port', '0'], { stdout: 'pipe' });
    started.push(child);
    const { value } = await child.stdout.getReader().read();
    expect(new TextDecoder().decode(value)).toMatch(
      /^Simulator listens on http:\/\/127\.0\.0\.1:\d+\n$/,
    );
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
  });

  test('with --exit-with-parent it ends when its parent ends', async () => {
    const simulator = await startSimulator();
    started.push(simulator);
    expect((await fetch(`${simulator.url}/_sim/books`)).status).toBe(200);
    expect(await simulator.stop()).toBe(0);

    // A killed parent cannot send anything, but its end of the pipe closes.
    const script = `
      const child = Bun.spawn([process.execPath, ${JSON.stringify(MAIN)}, '--exit-with-parent'],
        { stdin: 'pipe', stdout: 'pipe' });
      await child.stdout.getReader().read();
      console.log(child.pid);
      await new Promise(() => {});
    `;
    const parent = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' });
    started.push(parent);
    const { value } = await parent.stdout.getReader().read();
    const pid = Number(new TextDecoder().decode(value));
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await until('the simulator is gone', () => !isAlive(pid) || isZombie(pid));
  });

  test('--help and the README name every directive', () => {
    const help = Bun.spawnSync([process.execPath, MAIN, '--help']);
    const readme = readFileSync(join(ROOT, 'simulator/README.md'), 'utf8');
    expect(help.exitCode).toBe(0);
    for (const key of Object.keys(CHAT_DIRECTIVES)) {
      expect(help.stdout.toString()).toContain(`  ${key}=`);
      expect(readme).toContain(`| \`${key}`);
    }
  });

  test('refuses an invalid port', () => {
    const run = Bun.spawnSync([process.execPath, MAIN, '--port', 'http'], { stderr: 'pipe' });
    expect(run.exitCode).toBe(2);
    expect(run.stderr.toString()).toContain('--port http');
  });

  test('imports no code of Weir', async () => {
    for (const path of projectFiles('simulator/**/*.ts')) {
      const foreign = (await importsOf(path)).filter(
        (target) =>
          !/^(simulator\/|node:|gpt-tokenizer\/|jose$|aws4fetch$|@smithy\/core\/)/.test(target),
      );
      expect({ path, foreign }).toEqual({ path, foreign: [] });
    }
  });
});

/** True for a process that ended and was not reaped, which happens without an init process. */
function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
