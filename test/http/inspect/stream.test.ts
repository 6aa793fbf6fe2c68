/** The live stream of actors: operators and organizations on two replicas, and clients that mean harm. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { errorOf } from '../../support/envelope.ts';
import { Browser, PASSWORD } from '../../support/people.ts';
import { insideOf, startTenants, type Tenants } from '../../support/tenants.ts';
import { until } from '../../support/until.ts';
import type { RunningWeir } from '../../support/weir.ts';

setDefaultTimeout(90_000);

let tenants: Tenants;
beforeAll(async () => {
  tenants = await startTenants();
});
afterAll(() => tenants.stop());

interface Frame {
  type: string;
  sessionId: string;
  rootId: string;
  event?: { type: string } & Record<string, unknown>;
  snapshot?: { value: unknown; context: Record<string, unknown>; status: string };
  definition?: string;
  _weir: {
    replica: string;
    seq: number;
    kind: string;
    id: string;
    organization_id: string | null;
    actor_seq: number;
  };
}
interface Seen {
  name: string | undefined;
  id: string | undefined;
  frame: Frame;
}

const OPERATOR = '/v1/operator/inspect/events';
const OWNER = '/v1/management/inspect/events';
const open: { close(): void }[] = [];
afterAll(() => {
  for (const stream of open) stream.close();
});

async function listen(path: string, token: string, weir: RunningWeir, last?: string) {
  const client = new AbortController();
  const response = await fetch(weir.base_url + path, {
    signal: client.signal,
    headers: {
      authorization: `Bearer ${token}`,
      ...(last === undefined ? {} : { 'last-event-id': last }),
    },
  });
  const seen: Seen[] = [];
  const stream = { response, seen, close: () => client.abort() };
  open.push(stream);
  if (response.status !== 200) return stream;
  const events = (response.body ?? new ReadableStream<Uint8Array>())
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(new EventSourceParserStream());
  const read = async () => {
    for await (const { event, id, data } of events as unknown as AsyncIterable<{
      event?: string;
      id?: string;
      data: string;
    }>) {
      seen.push({ name: event, id, frame: JSON.parse(data) });
    }
  };
  read().catch(() => undefined);
  return stream;
}

const operator = (weir: RunningWeir, query = '', last?: string) =>
  listen(OPERATOR + query, tenants.weir.operator_token, weir, last);
const owner = (tenant = tenants.home, query = '') =>
  listen(OWNER + query, tenant.management_token, tenants.weir);

/** The webhook of a task has the same id, and its frames may come with the last ones of the task. */
const ofTask = (seen: readonly Seen[], task: string) =>
  seen
    .map(({ name, frame }) => (name === undefined ? frame : undefined))
    .filter((frame) => frame?._weir.id === task && frame._weir.kind === 'task') as Frame[];
const numbers = (frames: readonly Frame[]) =>
  frames.filter(({ type }) => type === '@xstate.event').map(({ _weir }) => _weir.actor_seq);

async function finished(seen: readonly Seen[], task: string): Promise<Frame[]> {
  return until('the stream shows the end of the task', () => {
    const frames = ofTask(seen, task);
    return frames.some(({ snapshot }) => snapshot?.status === 'done') && frames;
  });
}

test('operators on both replicas see each event of a task, as Stately’s tools read it', async () => {
  const streams = await Promise.all([tenants.weir, tenants.second].map((weir) => operator(weir)));
  const task = await tenants.createTask(tenants.home, 10);
  for (const { seen } of streams) {
    const frames = await finished(seen, task);
    const [actor, event, snapshot] = frames;
    expect(actor?.type).toBe('@xstate.actor');
    expect(JSON.parse(actor?.definition ?? '')).toMatchObject({ id: 'task', initial: 'pending' });
    expect(event).toMatchObject({ type: '@xstate.event', event: { type: 'ACCEPTED' } });
    expect(snapshot).toMatchObject({
      ...{ type: '@xstate.snapshot', snapshot: { value: { pending: 'submitting' } } },
    });
    expect(frames.filter(({ type }) => type === '@xstate.actor')).toHaveLength(1);
    const [{ sessionId, rootId } = { sessionId: '', rootId: 'x' }] = frames;
    expect(rootId).toBe(sessionId);
    expect(sessionId).toEndWith(`/task/${task}`);
    const all = numbers(frames);
    expect(all).toEqual(all.map((_, index) => index + 1));
    expect(all.length).toBeGreaterThanOrEqual(4);
  }
});

test('a stream resumes on the other replica: each event once', async () => {
  const first = await operator(tenants.weir, '?kind=task&definitions=false');
  const before = await tenants.createTask(tenants.home, 10);
  await finished(first.seen, before);
  const last = await until('an id', () => first.seen.findLast(({ id }) => id !== undefined)?.id);
  first.close();
  const missed = await tenants.createTask(tenants.home, 10);
  await until('the task ends', async () => {
    const task = await tenants.manage<{ status: string }>('GET', `/tasks/${missed}`);
    return task.status === 'completed';
  });
  const later = await operator(tenants.second, '?kind=task&definitions=false', last);
  const frames = await finished(later.seen, missed);
  const all = numbers(frames);
  expect(all[0]).toBe(1);
  expect(new Set(all).size).toBe(all.length);
  expect(later.seen.filter(({ name }) => name === 'gap')).toEqual([]);
  expect(frames.some(({ definition }) => definition !== undefined)).toBe(false);
});

test('an organization sees its own actors only, and no channel, provider or physical model (P5, P6)', async () => {
  const [all, home, away] = [
    await operator(tenants.weir),
    await owner(),
    await owner(tenants.away),
  ];
  const mine = await tenants.createTask(tenants.home, 10);
  const strange = await tenants.createTask(tenants.away, 10);
  await finished(home.seen, mine);
  await finished(away.seen, strange);
  await finished(all.seen, strange);
  expect(JSON.stringify(all.seen)).toMatch(insideOf(tenants));
  for (const { seen, id } of [
    { seen: home.seen, id: tenants.home.id },
    { seen: away.seen, id: tenants.away.id },
  ]) {
    expect(JSON.stringify(seen)).not.toMatch(insideOf(tenants));
    const owners = new Set(seen.map(({ frame }) => frame._weir.organization_id));
    expect(owners).toEqual(new Set([id]));
    expect(seen.map(({ frame }) => frame._weir.kind)).not.toContain('channel');
  }
  const submitted = ofTask(home.seen, mine).find(({ event }) => event?.type === 'SUBMITTED');
  expect(submitted?.event?.['channel_id']).toMatch(/^hidden-/);
  expect(JSON.stringify(all.seen)).not.toMatch(/lighthouse|sk-|sim-canary/i);
});

test('calls that a quota admits without an event come as one sum', async () => {
  const stream = await owner(tenants.home, `?kind=quota&id=${tenants.home.key_id}`);
  const call = () =>
    fetch(`${tenants.weir.base_url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tenants.home.api_key}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }),
    }).then((response) => response.text());
  await Promise.all([call(), call(), call()]);
  const sum = await until('a sum', () =>
    stream.seen.find(({ frame }) => frame.event?.type === 'CALLS'),
  );
  expect(sum.frame.snapshot ?? sum.frame.event).toBeDefined();
  expect(sum.frame.event).toHaveProperty('settled');
});

describe('hostile clients', () => {
  test('no token, a wrong one, or one of another interface: 401', async () => {
    for (const token of ['', 'op-nobody', tenants.home.api_key, tenants.home.management_token]) {
      const { response } = await listen(OPERATOR, token, tenants.weir);
      await errorOf(response, 401);
    }
    for (const token of ['', 'mt-nobody', tenants.home.api_key, tenants.weir.operator_token]) {
      const { response } = await listen(OWNER, token, tenants.weir);
      await errorOf(response, 401);
    }
  });

  test('a page of another site cannot use the cookie of a person', async () => {
    const foreign = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ];
    const { base_url } = tenants.weir;
    const invited = await fetch(`${base_url}/v1/management/invitations`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tenants.home.management_token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ email: 'watcher@example.com', role: 'viewer' }),
    });
    const { url } = (await invited.json()) as { url: string };
    const browser = new Browser(base_url);
    await browser.ask('POST', url, { name: 'Watcher', password: PASSWORD });
    const { cookie } = browser;
    const ask = (headers: object) =>
      fetch(`${base_url}/v1/management/inspect/actors`, {
        headers: new Headers(Object.entries({ ...headers, cookie })),
      });
    expect((await ask({})).status).toBe(200);
    for (const headers of foreign) {
      expect((await errorOf(await ask(headers), 403)).param).toBe('Origin');
    }
  });

  test('a guessed id of another organization shows nothing', async () => {
    const stream = await owner(tenants.home, `?id=${tenants.away.task}`);
    const mine = await owner();
    const strange = await tenants.createTask(tenants.away, 10);
    const guess = await owner(tenants.home, `?id=${strange}`);
    const own = await tenants.createTask(tenants.home, 10);
    await finished(mine.seen, own);
    expect([...stream.seen, ...guess.seen]).toEqual([]);
    expect(ofTask(mine.seen, strange)).toEqual([]);
  });

  test('a flood of watchers of one organization is refused, and others still watch', async () => {
    const flood = await Promise.all(Array.from({ length: 30 }, () => owner(tenants.away)));
    const refused = flood.filter(({ response }) => response.status !== 200);
    expect(refused.length).toBeGreaterThanOrEqual(20);
    const error = await errorOf((refused[0] as (typeof flood)[number]).response, 503);
    expect(error.code).toBe('service_unavailable');
    const [watcher, mine] = [await operator(tenants.weir), await owner()];
    const task = await tenants.createTask(tenants.home, 10);
    await finished(watcher.seen, task);
    await finished(mine.seen, task);
    for (const { close } of flood) close();
    await until('the places are free again', async () => {
      const again = await owner(tenants.away);
      again.close();
      return again.response.status === 200;
    });
  });

  test('an id that no event has: 400', async () => {
    const wrong = ['x', '0123456789ab', '0123456789ab.', '0123456789ab.1_', 'g'.repeat(9_000)];
    for (const last of [...wrong, `${'0123456789ab.1_'.repeat(65)}0123456789ab.1`]) {
      const { response } = await operator(tenants.weir, '', last);
      expect((await errorOf(response, 400)).param).toBe('Last-Event-ID');
    }
  });
});
