/** Operators and organizations look at the actors of two replicas, and at their past. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { errorOf } from '../../support/envelope.ts';
import { insideOf, startTenants, type Tenants } from '../../support/tenants.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(90_000);

let tenants: Tenants;
beforeAll(async () => {
  tenants = await startTenants();
});
afterAll(() => tenants.stop());

interface Actor {
  kind: string;
  id: string;
  replica: string | null;
  organization_id: string | null;
  state: string;
  since: string;
  seq: number;
  says: string;
  attempt: number | null;
  next_at: string | null;
  deadline_at: string | null;
}
interface List {
  data: Actor[];
  has_more: boolean;
  next_cursor: string | null;
  counts: { kind: string; state: string; actors: number }[];
  silent_replicas: number;
}
interface LoggedEvent {
  seq: number;
  event: Record<string, unknown>;
  from: string;
  to: string;
  hash: string | null;
  taken: boolean;
  machine_version: number;
  cause: string | null;
  request_id: string | null;
  money: Record<string, number> | null;
}
interface Moment {
  state: string;
  context: Record<string, unknown>;
  is_verified: boolean;
  problem: string | null;
  event: LoggedEvent;
  changed: { member: string; before: unknown; after: unknown }[];
}
interface Detail extends Actor {
  context: Record<string, unknown>;
  next_events: string[];
  first_seq: number;
  timers: { name: string; fires_at: string }[];
  money: Record<string, number> | null;
  replicas: string[] | null;
}

const operator = (path: string, weir = tenants.weir) =>
  tenants.send('GET', `/v1/operator/inspect${path}`, tenants.weir.operator_token, weir);
const owner = (path: string, tenant = tenants.home, weir = tenants.weir) =>
  tenants.send('GET', `/v1/management/inspect${path}`, tenant.management_token, weir);

async function ok<Answer>(response: Promise<Response>): Promise<Answer> {
  const answered = await response;
  const text = await answered.text();
  if (answered.status !== 200) throw new Error(`${answered.status}: ${text}`);
  return JSON.parse(text) as Answer;
}

const listAll = async (read: (path: string) => Promise<Response>, query: string) => {
  const actors: Actor[] = [];
  let cursor = '';
  do {
    const page = await ok<List>(read(`/actors?limit=2${query}${cursor}`));
    actors.push(...page.data);
    cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
  } while (cursor !== '');
  return actors;
};

describe('the list', () => {
  test('has living actors, the longest in their state first, with words and times', async () => {
    const id = await tenants.createTask(tenants.home, 60_000);
    const task = await until('the task waits for a poll', async () => {
      const { data } = await ok<List>(operator(`/actors?kind=task&id=${id}`));
      return data[0]?.state === 'processing.waiting' && data[0];
    });
    expect(task).toMatchObject({ organization_id: tenants.home.id, live: true } as object);
    expect(task.says).toBe('waits for the next poll of its job');
    expect(task.attempt).toBeGreaterThan(0);
    expect(Date.parse(task.deadline_at ?? '')).toBeGreaterThan(Date.parse(task.since));
    expect(Number.isNaN(Date.parse(task.next_at ?? ''))).toBe(false);
    const own = await ok<List>(owner(`/actors?kind=task`));
    expect(own.data.map((actor) => actor.id)).toEqual([id]);
    expect(own.counts).toEqual([{ kind: 'task', state: 'processing', actors: 1 }]);
    expect((await ok<List>(owner('/actors?kind=task', tenants.away))).data).toEqual([]);
    const states = ['processing', 'processing.waiting', 'pending', 'proc'];
    const found = states.map(async (state) => {
      const { data } = await ok<List>(owner(`/actors?kind=task&state=${state}`));
      return data.length;
    });
    expect((await Promise.all(found)).slice(2)).toEqual([0, 0]);
    await tenants.send('POST', `/v1/management/tasks/${id}/cancel`, tenants.home.management_token);
  });

  test('merges rows with the memory of all replicas, page by page', async () => {
    // Both replicas get calls with the key, so both have a quota of it.
    await callOn(tenants.weir);
    await callOn(tenants.second);
    const quotas = await until('both replicas list their quotas', async () => {
      const found = await listAll(operator, `&kind=quota&id=${tenants.home.key_id}`);
      return found.length === 2 && found;
    });
    expect(new Set(quotas.map(({ replica }) => replica)).size).toBe(2);
    const all = await listAll(operator, '');
    const names = all.map(({ kind, id, replica }) => `${kind}/${id}/${replica}`);
    expect(new Set(names).size).toBe(names.length);
    expect(all.map(({ since }) => since)).toEqual(all.map(({ since }) => since).toSorted());
    expect(new Set(all.map(({ kind }) => kind))).toContain('channel');
    const whole = await ok<List>(operator('/actors?limit=100', tenants.second));
    expect(whole.silent_replicas).toBe(0);
    const sum = whole.counts.reduce((total, { actors }) => total + actors, 0);
    expect(sum).toBe(whole.data.length);
    const [replica] = quotas.map((quota) => quota.replica);
    const there = await listAll(operator, `&replica=${replica}&kind=quota`);
    expect(new Set(there.map((actor) => actor.replica))).toEqual(new Set([replica ?? '']));
  });

  test('of ended actors has the latest first', async () => {
    const ended = await listAll(operator, '&live=false');
    expect(ended.map(({ id }) => id)).toContain(tenants.home.task);
    expect(ended.map(({ since }) => since)).toEqual(
      ended
        .map(({ since }) => since)
        .toSorted()
        .toReversed(),
    );
    const own = await listAll(owner, '&live=false');
    expect(new Set(own.map(({ organization_id }) => organization_id))).toEqual(
      new Set([tenants.home.id]),
    );
  });

  test('has those that are longer in their state than is usual, if asked', async () => {
    const id = await tenants.createTask(tenants.home, 60_000);
    const { sql } = tenants.database;
    await until('the task waits for a poll', async () => {
      const { data } = await ok<List>(owner(`/actors?kind=task&id=${id}`));
      return data[0]?.state.startsWith('processing') && data[0];
    });
    const stuck = (read: (path: string) => Promise<Response>, query = '') =>
      ok<List>(read(`/actors?stuck=true${query}`));
    expect((await stuck(owner)).data).toEqual([]);
    await sql`update actor set since = weir_now() - interval '11 minutes' where id = ${id}`;
    for (const found of [await stuck(owner), await stuck(operator, '&kind=task')]) {
      expect(found.data).toMatchObject([{ id, is_stuck: true, usual_ms: 600_000 }] as object[]);
      expect(found.counts).toEqual([{ kind: 'task', state: 'processing', actors: 1 }]);
    }
    expect((await stuck(owner, '&kind=quota')).data).toEqual([]);
    expect((await stuck(owner, '&state=pending')).data).toEqual([]);
    const all = await ok<List>(owner('/actors'));
    expect(all.data.filter((each) => 'is_stuck' in each && each.is_stuck === true)).toHaveLength(1);
    await errorOf(await owner('/actors?stuck=true&live=false'), 400);
    await tenants.send('POST', `/v1/management/tasks/${id}/cancel`, tenants.home.management_token);
  });

  test('refuses wrong parameters', async () => {
    const wrong = [
      '?kind=x',
      '?live=maybe',
      '?stuck=maybe',
      '?limit=0',
      '?limit=101',
      '?cursor=x',
      '?color=red',
    ];
    for (const query of [...wrong, `?cursor=${btoa('[1,"a","b"]')}`, '?state=%00']) {
      await errorOf(await operator(`/actors${query}`), 400);
    }
    for (const query of ['?organization_id=x', '?replica=x', '?kind=x']) {
      await errorOf(await owner(`/actors${query}`), 400);
    }
  });
});

const callOn = (weir: Tenants['weir']) =>
  fetch(`${weir.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tenants.home.api_key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }),
  }).then(async (response) => {
    expect([response.status, await response.text()][0]).toBe(200);
    return response;
  });

const eventsOf = async (read: (path: string) => Promise<Response>, path: string) =>
  (await ok<{ data: LoggedEvent[] }>(read(`/actors/${path}/events?limit=1000`))).data;

describe('the past of a task', () => {
  test('has each event, and each replays to its stored hash', async () => {
    const { task } = tenants.home;
    const events = await eventsOf(operator, `task/${task}`);
    expect(events[0]).toMatchObject({ seq: 1, from: 'pending.reserved', to: 'pending.submitting' });
    expect(events.at(-1)?.to).toBe('completed');
    const rows = await tenants.database.sql<{ seq: number; context_hash: string }[]>`
      select seq, context_hash from actor_event where kind = 'task' and actor_id = ${task}
      order by seq`;
    expect(events.map(({ seq, hash }) => ({ seq, context_hash: hash }))).toEqual([...rows]);
    for (const { seq, to } of events) {
      const moment = await ok<Moment>(operator(`/actors/task/${task}/events/${seq}`));
      expect(moment).toMatchObject({ state: to, is_verified: true, problem: null });
    }
    const detail = await ok<Detail>(operator(`/actors/task/${task}`));
    const money = detail.money ?? {};
    expect(money['settled_nano_usd']).toBeGreaterThan(0);
    expect(money['held_nano_usd']).toBe(
      Number(money['settled_nano_usd']) + Number(money['released_nano_usd']),
    );
  });

  test('says which members an event changed', async () => {
    const { task } = tenants.home;
    const moment = await ok<Moment>(owner(`/actors/task/${task}/events/1`));
    expect(moment.event.event['type']).toBe('ACCEPTED');
    expect(moment.context['patient']).toBe(true);
    const polled = (await eventsOf(owner, `task/${task}`)).find(
      ({ event }) => event['type'] === 'SUBMITTED',
    );
    const { changed } = await ok<Moment>(owner(`/actors/task/${task}/events/${polled?.seq}`));
    expect(changed).toContainEqual({ member: 'has_job', before: false, after: true });
  });

  test('is paged', async () => {
    const { task } = tenants.home;
    const all = await eventsOf(operator, `task/${task}`);
    const path = `/actors/task/${task}/events?limit=2&after=1`;
    const page = await ok<{ data: LoggedEvent[]; has_more: boolean }>(operator(path));
    expect(page).toMatchObject({ data: all.slice(1, 3), has_more: all.length > 3 });
  });

  test('a changed log is noticed: the moment names the event', async () => {
    const { task } = tenants.away;
    const { sql } = tenants.database;
    await sql`update actor_event set context_hash = 'forged' where actor_id = ${task} and seq = 2`;
    const moment = await ok<Moment>(operator(`/actors/task/${task}/events/3`));
    expect(moment).toMatchObject({ is_verified: false, problem: expect.stringMatching(/event 2/) });
    expect(await ok<Moment>(operator(`/actors/task/${task}/events/1`))).toMatchObject({
      is_verified: true,
    });
  });

  test('an organization sees no channel, and its hashes are those of what it sees (P5)', async () => {
    const { task } = tenants.home;
    const inside = insideOf(tenants);
    const seen = await eventsOf(operator, `task/${task}`);
    const own = await eventsOf(owner, `task/${task}`);
    const submitted = ({ event }: LoggedEvent) => event['type'] === 'SUBMITTED';
    expect(JSON.stringify(seen)).toMatch(inside);
    expect(JSON.stringify(own)).not.toMatch(inside);
    expect(own.find(submitted)?.event['channel_id']).toMatch(/^hidden-/);
    expect(own.map(({ seq, to }) => [seq, to])).toEqual(seen.map(({ seq, to }) => [seq, to]));
    const [last] = own.slice(-1);
    // This task tried no channel twice, so its context names none.
    expect(last?.hash).toBe(seen.at(-1)?.hash ?? '');
  });

  test('404 for an event that does not exist', async () => {
    for (const seq of ['0', '9999', '-1', 'x', '1e3']) {
      await errorOf(await operator(`/actors/task/${tenants.home.task}/events/${seq}`), 404);
    }
  });
});

describe('actors in memory', () => {
  test('a quota has its last events, with the sum of the calls that needed none', async () => {
    await callOn(tenants.weir);
    await callOn(tenants.weir);
    const path = `quota/${tenants.home.key_id}`;
    const detail = await ok<Detail>(owner(`/actors/${path}`));
    expect(detail.replicas?.length).toBeGreaterThan(0);
    const replica = `?replica=${detail.replica}`;
    const events = await ok<{ data: LoggedEvent[] }>(owner(`/actors/${path}/events${replica}`));
    const types = events.data.map(({ event }) => event['type']);
    expect(types).toContain('CALLS');
    expect(types).toContain('GRANTED');
    for (const { seq, to } of events.data) {
      const moment = await ok<Moment>(owner(`/actors/${path}/events/${seq}${replica}`));
      expect(moment).toMatchObject({ state: to, is_verified: true });
    }
  });

  test('an event names the request that caused it', async () => {
    const { sql } = tenants.database;
    const { key_id } = tenants.home;
    const weir = tenants.second;
    const response = await callOn(weir);
    const request = response.headers.get('x-request-id');
    const found = await until('a first call reserves through the ledger', async () => {
      const replicas = (await ok<Detail>(operator(`/actors/quota/${key_id}`))).replicas ?? [];
      for (const replica of replicas) {
        const path = `/actors/quota/${key_id}/events?replica=${replica}&limit=1000`;
        const { data } = await ok<{ data: LoggedEvent[] }>(operator(path));
        const caused = data.find(({ request_id }) => request_id !== null);
        if (caused) return caused;
      }
      return undefined;
    });
    expect(found.cause).toBe('call');
    expect(found.request_id).toMatch(/^req_[0-9a-f]{32}$/);
    expect(request).toMatch(/^req_/);
    expect(await sql`select 1 from api_key where id = ${key_id}`).toHaveLength(1);
  });

  test('a channel is for operators only', async () => {
    const { data } = await ok<List>(operator('/actors?kind=channel&limit=1'));
    const id = data[0]?.id ?? '';
    expect(id).toContain('/');
    const path = `channel/${encodeURIComponent(id)}`;
    const detail = await ok<Detail>(operator(`/actors/${path}`));
    expect(detail).toMatchObject({ kind: 'channel', id, state: 'healthy' });
    expect(detail.next_events).toContain('FAILED');
    await ok(operator(`/actors/${path}/events`));
    expect((await ok<List>(owner('/actors?kind=channel'))).data).toEqual([]);
    const missing = await errorOf(await owner('/actors/channel/none'), 404);
    expect(await errorOf(await owner(`/actors/${path}`), 404)).toEqual(missing);
    expect(await errorOf(await owner(`/actors/${path}/events`), 404)).toEqual(missing);
  });

  test('P6: the quota of another organization answers like one that does not exist', async () => {
    await fetch(`${tenants.weir.base_url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tenants.away.api_key}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }),
    });
    await ok(owner(`/actors/quota/${tenants.away.key_id}`, tenants.away));
    const strange = await errorOf(await owner(`/actors/quota/${tenants.away.key_id}`), 404);
    expect(strange).toEqual(await errorOf(await owner('/actors/quota/key_none'), 404));
  });
});

test('the machines are plain JSON, with their earlier versions', async () => {
  type Machines = { data: { kind: string; version: number; definition: { id: string } }[] };
  const { data } = await ok<Machines>(operator('/machines'));
  expect(data.filter(({ kind }) => kind === 'task').map(({ version }) => version)).toEqual([
    3, 1, 2,
  ]);
  expect(data.every(({ kind, definition }) => definition.id === kind)).toBe(true);
  const own = await ok<Machines>(owner('/machines'));
  expect(own.data.map(({ kind }) => kind)).not.toContain('channel');
});
