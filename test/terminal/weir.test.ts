/** `bin/weir` as a process, beside two replicas of a real Weir. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../house/sources.ts';
import { insideOf, startTenants, type Tenants } from '../support/tenants.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import { until } from '../support/until.ts';

setDefaultTimeout(90_000);

let tenants: Tenants;
const folder = throwawayFolder('terminal');
beforeAll(async () => {
  tenants = await startTenants();
});
afterAll(async () => {
  await tenants.stop();
  removeFolder(folder);
});

const running: Bun.Subprocess[] = [];
afterAll(() => {
  for (const child of running) child.kill();
});

/** Starts `bin/weir` in an empty folder. `env` replaces the variables that name Weir. */
function start(args: readonly string[], env: Record<string, string> = operatorEnv()) {
  const child = Bun.spawn([join(ROOT, 'bin/weir'), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    ...{ stdout: 'pipe', stderr: 'pipe', stdin: 'ignore' },
  });
  running.push(child);
  const output = { out: '', err: '' };
  const read = async (name: 'out' | 'err', stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) output[name] += decoder.decode(chunk, { stream: true });
  };
  const ended = Promise.all([read('out', child.stdout), read('err', child.stderr), child.exited]);
  return {
    child,
    output,
    async end() {
      const [, , code] = await ended;
      return { code, ...output };
    },
  };
}

const run = (args: readonly string[], env?: Record<string, string>) => start(args, env).end();
const operatorEnv = () => ({
  ...{ WEIR_URL: tenants.weir.base_url, WEIR_TOKEN: tenants.weir.operator_token },
});
const ownerEnv = (tenant = tenants.home) => ({
  ...{ WEIR_URL: tenants.weir.base_url, WEIR_TOKEN: tenant.management_token },
});
const jsonLines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

async function waitingTask(): Promise<string> {
  const id = await tenants.createTask(tenants.home, 60_000);
  await until('the task waits for a poll', async () => {
    const { out } = await run(['actors', '--machine', 'task', '--json']);
    return jsonLines(out).some((task) => task.id === id && task.state === 'processing.waiting');
  });
  return id;
}

describe('bin/weir actors', () => {
  test('lists actors of all replicas as a table, and as JSON', async () => {
    const id = await waitingTask();
    const { code, out, err } = await run(['actors', '--limit', '1000']);
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('1 task processing') });
    const [header, ...rows] = out.trimEnd().split('\n');
    expect(header).toMatch(/^MACHINE +ID +STATE +FOR +ATTEMPT +NEXT +REPLICA +SAYS$/);
    const row = rows.find((line) => line.includes(id));
    expect(row).toMatch(/^task .* processing\.waiting .* (in|now) .*waits for the next poll/);
    expect(rows.some((line) => line.startsWith('channel '))).toBe(true);
    const { out: json } = await run(['actors', '--json', '--limit', '1000']);
    const replicas = jsonLines(json)
      .filter(({ kind }) => kind === 'channel')
      .map(({ replica }) => replica);
    expect(new Set(replicas).size).toBe(2);
    const few = await run(['actors', '--limit', '2', '--json']);
    expect(jsonLines(few.out)).toHaveLength(2);
    expect(few.err).toContain('There are more actors. --limit 20 shows more.');
  });

  test('filters by machine, state, replica and age', async () => {
    const id = await waitingTask();
    const ids = async (...args: string[]) =>
      jsonLines((await run(['actors', '--machine', 'task', '--json', ...args])).out).map(
        (task) => task.id,
      );
    expect(await ids('--state', 'processing')).toContain(id);
    expect(await ids('--state', 'refunding')).toEqual([]);
    expect(await ids('--longer-than', '1d')).toEqual([]);
    expect(await ids('--stuck')).toEqual([]);
    expect(await ids('--longer-than', '0s')).toContain(id);
    expect(await ids('--replica', 'replica_none')).toEqual([]);
    expect(await ids('--organization', tenants.away.id)).toEqual([]);
    expect(await ids('--ended')).toContain(tenants.away.task);
  });

  test('shows an organization its own actors, and nothing of channels', async () => {
    const { out } = await run(['actors', '--ended', '--json'], ownerEnv());
    const organizations = jsonLines(out).map(({ organization_id }) => organization_id);
    expect(new Set(organizations)).toEqual(new Set([tenants.home.id]));
    expect(out).not.toMatch(insideOf(tenants));
    const refused = await run(['actors', '--organization', tenants.away.id], ownerEnv());
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain('Only operators may send organization_id.');
  });
});

describe('bin/weir actor', () => {
  test('shows an actor and its last events', async () => {
    const { task } = tenants.home;
    const { code, out } = await run(['actor', task]);
    expect(code).toBe(0);
    expect(out).toContain(`task/${task}`);
    expect(out).toMatch(/^state +completed, for /m);
    expect(out).toMatch(/^ +1 {2}\S+ {2}ACCEPTED {2}pending\.reserved -> pending\.submitting/m);
    expect(out).toMatch(/SETTLED {2}processing\.settling -> completed {2}.*settled \$\d+\.\d\d/);
    const { out: json } = await run(['actor', `task/${task}`, '--json', '--events', '2']);
    const [actor, ...events] = jsonLines(json);
    expect(actor).toMatchObject({ kind: 'task', id: task, live: false });
    expect(events.map(({ seq }) => seq)).toEqual([actor.seq - 1, actor.seq]);
    // The webhook of the task has the same id.
    const webhook = await run(['actor', task, '--machine', 'webhook', '--json']);
    expect(jsonLines(webhook.out)[0]).toMatchObject({ kind: 'webhook', id: task });
    const owned = await run(['actor', task], ownerEnv());
    expect(owned.out).not.toMatch(insideOf(tenants));
  });

  test('shows a channel, whose id has a slash, on one replica', async () => {
    const { out } = await run(['actors', '--machine', 'channel', '--json']);
    const [first] = jsonLines(out);
    const named = await run(['actor', `channel/${first.id}`, '--replica', first.replica, '--json']);
    expect(jsonLines(named.out)[0]).toMatchObject({ id: first.id, replica: first.replica });
  });

  test('follows a task until it ends: each event once, in order', async () => {
    const id = await tenants.createTask(tenants.home, 3_000);
    const followers = [start(['actor', id, '-f']), start(['actor', id, '--follow', '--json'])];
    await Promise.all(
      followers.map(({ output }) =>
        until('the events until now are printed', () => output.out.includes('SUBMITTED')),
      ),
    );
    const [text, json] = await Promise.all(followers.map((follower) => follower.end()));
    expect(text).toMatchObject({ code: 0, err: '' });
    // That its end was announced may arrive before the command leaves.
    const lines = text?.out.trimEnd().split('\n');
    expect(lines?.findLast((line) => !line.includes('ANNOUNCED'))).toMatch(
      /SETTLED {2}processing\.settling -> completed {2}.*settled \$/,
    );
    const [, ...events] = jsonLines(json?.out ?? '');
    const numbers = events.map(({ seq }) => seq);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    const last = events.findLast(({ event }) => event.type !== 'ANNOUNCED');
    expect(last).toMatchObject({ event: { type: 'SETTLED' }, to: 'completed' });
  });

  test('follows the calls of a key as sums', async () => {
    const call = () =>
      tenants.create('/v1/chat/completions', tenants.home, {
        ...{ model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }] },
      });
    await call();
    const follower = start(
      ['actor', `quota/${tenants.home.key_id}`, '--follow', '--json'],
      ownerEnv(),
    );
    await until('the actor is printed', () => follower.output.out.includes('"quota"'));
    const settled = () =>
      jsonLines(follower.output.out.replace(/[^\n]*$/, ''))
        .filter(({ event }) => event?.type === 'CALLS')
        .reduce((most, { event }) => Math.max(most, event.settled), 0);
    await until('a further call is in a sum', async () => {
      const before = settled();
      await call();
      return until('the sum grows', () => settled() > before);
    });
    follower.child.kill();
    await follower.end();
  });
});

describe('bin/weir refuses', () => {
  const refusals: [args: string[], words: string][] = [
    [['list'], 'There is no command list.'],
    [['actors', 'task'], 'Use "bin/weir actor ID" for one.'],
    [['actors', '--machine', 'robot'], '--machine must be one of task'],
    [['actors', '--longer-than', '10'], '--longer-than must be a number with a unit'],
    [['actors', '--ended', '--longer-than', '1d'], 'cannot be used together'],
    [['actors', '--ended', '--stuck'], 'cannot be used together'],
    [['actors', '--limit', '0'], '--limit must be a whole number'],
    [['actors', '--nothing'], '--nothing'],
    [['actor'], 'actor takes one id'],
    [['actors', '--url', 'file:///etc'], 'is no address of Weir'],
  ];
  test.each(refusals)('%p', async (args, words) => {
    const { code, out, err } = await run(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(words);
  });

  test('an unknown actor, a wrong token and a server that is away', async () => {
    const url = { WEIR_URL: tenants.weir.base_url };
    const cases: [string[], Record<string, string>, string][] = [
      [['actor', 'weir_none'], operatorEnv(), 'There is no such actor.'],
      [['actor', tenants.home.task], ownerEnv(tenants.away), 'There is no such actor.'],
      [['actors'], { ...url, WEIR_TOKEN: 'op-wrong' }, ''],
      [['actors'], { WEIR_URL: 'http://127.0.0.1:1', WEIR_TOKEN: 'op-a' }, 'cannot be reached'],
      [
        ['actor', 'weir_a', '-f'],
        { WEIR_URL: 'http://127.0.0.1:1', WEIR_TOKEN: 'op-a' },
        'reached',
      ],
    ];
    for (const [args, env, words] of cases) {
      const { code, out, err } = await run(args, env);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toContain(words);
      expect(err).not.toMatch(/\.ts:/);
    }
  });
});

describe('bin/weir finds', () => {
  const dataFolder = (base_url: string) => {
    const data = mkdtempSync(join(folder, 'data-'));
    const { operator_token } = tenants.weir;
    writeFileSync(join(data, 'first-run.json'), JSON.stringify({ base_url, operator_token }));
    return data;
  };

  test('address and token in first-run.json', async () => {
    const data = dataFolder(tenants.weir.base_url);
    expect(await run(['actors', '--limit', '1'], { WEIR_DATA: data })).toMatchObject({ code: 0 });
    expect(await run(['actors', '--data', data, '--limit', '1'], {})).toMatchObject({ code: 0 });
  });

  test('no token for another server than the one of first-run.json', async () => {
    const tokens: (string | null)[] = [];
    const other = Bun.serve({
      ...{ port: 0, hostname: '0.0.0.0' },
      fetch(request) {
        tokens.push(request.headers.get('authorization'));
        return new Response(null, { status: 404 });
      },
    });
    const data = dataFolder(tenants.weir.base_url);
    // This name is the same machine, but Weir's own address does not have it.
    const url = `http://127.0.0.2:${other.port}`;
    const { code, err } = await run(['actors', '--data', data, '--url', url], {});
    expect({ code, tokens }).toEqual({ code: 2, tokens: [] });
    expect(err).toContain('A token is missing.');
    await other.stop(true);
  });
});
