/** The event log of durable actors: what a row says, and that a log replays to the same hashes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { assign, initialTransition, setup, transition } from 'xstate';
import { readHistory } from '../../../db/actors/history.ts';
import type { JsonValue } from '../../../db/actors/store.ts';
import { createDelivery } from '../../../db/webhooks/deliveries.ts';
import { systemClock, systemIdSource } from '../../../src/actors/clock.ts';
import type { CommittedEvent } from '../../../src/actors/durable/command.ts';
import { DurableActors } from '../../../src/actors/durable/durable.ts';
import type { DurableKind } from '../../../src/actors/durable/kind.ts';
import { Outbox } from '../../../src/actors/durable/outbox.ts';
import { hashSnapshot, sha256 } from '../../../src/actors/durable/snapshot.ts';
import { Timers } from '../../../src/actors/durable/timers.ts';
import { WEBHOOK_KIND, webhookKind } from '../../../src/actors/webhooks/kind.ts';
import { canonicalJson } from '../../../src/json/canonical.ts';
import { type EventToReplay, ReplayMismatch, replay } from '../../../src/replay/replay.ts';
import type { VersionedMachine } from '../../../src/replay/versioned.ts';
import { replayAll } from '../../support/histories.ts';
import { noHints } from '../../support/money-hints.ts';
import { fc } from '../../support/property.ts';
import { ScriptedProvider } from '../../support/scripted-provider.ts';
import { startTaskWorld, type TaskWorld } from '../../support/task-replica.ts';
import { until } from '../../support/until.ts';

describe('the hash of a snapshot', () => {
  /** The same JSON value with the keys of its objects in the opposite order. */
  function reversed(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(reversed);
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).reverse();
    return Object.fromEntries(members.map(([key, member]) => [key, reversed(member)]));
  }
  const hash = (context: unknown) => hashSnapshot({ value: 'a', context } as never);

  test('does not depend on the order of keys, and is the same after a round trip as JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(hash(reversed(value))).toBe(hash(value));
        expect(hash(JSON.parse(JSON.stringify(value)))).toBe(hash(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('has 32 hex digits, and differs for different states and contexts', () => {
    expect(hash({ polls: 1 })).toMatch(/^[0-9a-f]{32}$/);
    expect(hash({ polls: 1 })).not.toBe(hash({ polls: 2 }));
    expect(hash({ polls: 1 })).not.toBe(hash({ polls: '1' }));
    expect(hash({ polls: null })).not.toBe(hash({}));
    expect(hashSnapshot({ value: 'b', context: {} } as never)).not.toBe(hash({}));
  });

  test('leaves out what JSON cannot hold', () => {
    expect(hash({ a: undefined, b: [undefined], c: Number.NaN, d: -0 })).toBe(
      hash({ b: [null], c: null, d: 0 }),
    );
    expect(hash({ at: new Date(0) })).toBe(hash({ at: '1970-01-01T00:00:00.000Z' }));
  });
});

/** A machine that counts; version 2 renamed the state `counting` and the member `count`. */
const types = {
  context: {} as Record<string, number>,
  events: {} as { type: 'ADD'; amount: number } | { type: 'END' },
};
const counterOf = (state: string, member: string) =>
  setup({
    types,
    actions: {
      add: assign(({ context, event }) =>
        event.type === 'ADD' ? { [member]: (context[member] ?? 0) + event.amount } : {},
      ),
    },
  }).createMachine({
    id: 'counter',
    context: { [member]: 0 },
    initial: state,
    states: {
      [state]: { on: { ADD: { actions: 'add' }, END: 'ended' } },
      ended: { type: 'final' },
    },
  });
const VERSION_1: VersionedMachine = { machine: counterOf('counting', 'count'), version: 1 };
const VERSION_2: VersionedMachine = {
  machine: counterOf('adding', 'sum'),
  version: 2,
  migrate: (stored) => {
    const { value, context } = stored as { value: string; context: { count: number } };
    return { value: value === 'counting' ? 'adding' : value, context: { sum: context.count } };
  },
  earlier: [VERSION_1],
};

/** The log that the runtime writes if version 2 takes the events after the first `before`. */
function logOf(events: readonly { type: string; amount?: number }[], before: number) {
  const log: EventToReplay[] = [];
  let version = before > 0 ? VERSION_1 : VERSION_2;
  let [snapshot] = initialTransition(version.machine);
  for (const [index, event] of events.entries()) {
    if (index === before && version === VERSION_1) {
      version = VERSION_2;
      const { value, context } = snapshot;
      const stored = VERSION_2.migrate?.({ value, context } as JsonValue, 1) as never;
      snapshot = VERSION_2.machine.resolveState(stored);
    }
    const [next] =
      snapshot.status === 'active' ? transition(version.machine, snapshot, event) : [snapshot];
    const taken = next !== snapshot;
    snapshot = next;
    log.push({
      seq: index + 1,
      event: event as unknown as JsonValue,
      taken,
      to_state: String(snapshot.value),
      machine_version: version.version,
      context_hash: hashSnapshot(snapshot),
    });
  }
  return log;
}

describe('replay', () => {
  const EVENTS = [
    { type: 'ADD', amount: 2 },
    { type: 'IGNORED' },
    { type: 'ADD', amount: 3 },
    { type: 'END' },
    { type: 'ADD', amount: 4 },
  ];

  test.each([0, 1, 2, 3, 4, 5])(
    'migrates the snapshot where the version rises: after %d events',
    (before) => {
      const log = logOf(EVENTS, before);
      const replayed = replay(VERSION_2, log, sha256);
      expect(replayed.map(({ context_hash }) => context_hash)).toEqual(
        log.map(({ context_hash }) => context_hash as string),
      );
      const context = before < 5 ? { sum: 5 } : { count: 5 };
      expect(replayed.at(-1)?.snapshot).toMatchObject({ value: 'ended', context });
      for (let page = 1; page < log.length; page += 1) {
        const first = replay(VERSION_2, log.slice(0, page), sha256);
        expect(replay(VERSION_2, log.slice(page), sha256, first.at(-1))).toEqual(
          replayed.slice(page),
        );
      }
    },
  );

  const REASONS: [name: string, change: (log: EventToReplay[]) => EventToReplay[], seq: number][] =
    [
      ['another amount', (log) => change(log, 2, { event: { type: 'ADD', amount: 4 } }), 3],
      ['another hash', (log) => change(log, 1, { context_hash: 'f'.repeat(32) }), 2],
      ['another state', (log) => change(log, 3, { to_state: 'adding', context_hash: null }), 4],
      ['another taken', (log) => change(log, 1, { taken: true }), 2],
      ['a missing event', (log) => log.filter(({ seq }) => seq !== 3), 3],
      ['an unknown version', (log) => change(log, 0, { machine_version: 9 }), 1],
    ];
  const change = (log: EventToReplay[], index: number, more: Partial<EventToReplay>) =>
    log.map((each, at) => (at === index ? { ...each, ...more } : each));

  test.each(REASONS)('stops at the first event that differs: %s', (_, falsify, seq) => {
    const log = falsify(logOf(EVENTS, 2));
    const mismatch = (() => {
      try {
        return replay(VERSION_2, log, sha256);
      } catch (error) {
        return error;
      }
    })();
    expect(mismatch).toBeInstanceOf(ReplayMismatch);
    expect(mismatch).toMatchObject({ seq });
  });

  test('compares events without a stored hash by their state', () => {
    const log = logOf(EVENTS, 0).map((each) => ({ ...each, context_hash: null }));
    expect(replay(VERSION_2, log, sha256)).toHaveLength(EVENTS.length);
  });
});

describe('the event log', () => {
  let world: TaskWorld;
  beforeAll(async () => {
    world = await startTaskWorld();
  });
  afterAll(() => world.stop());

  /** Durable actors with one kind. Their timers are always due, so that a test does not wait. */
  function runtime(kind: DurableKind, replica_id: string) {
    const { sql } = world.database;
    const committed: CommittedEvent[] = [];
    const onError = () => undefined;
    const actors = new DurableActors({
      sql,
      clock: systemClock,
      ids: systemIdSource,
      kinds: [kind],
      replica_id: () => replica_id,
      hints: noHints,
      onCommitted: ({ events }) => void committed.push(...events),
      onError,
    });
    const shared = { sql, clock: systemClock, actors, replica_id: () => replica_id, onError };
    const outbox = new Outbox({ ...shared, random: () => 0.5 });
    const timers = new Timers(shared);
    return {
      committed,
      actors,
      async run() {
        await sql`update timer set fire_at = weir_now() where kind = ${kind.kind}`;
        await timers.poll();
        await outbox.poll();
        await outbox.idle();
      },
    };
  }

  test('of a webhook replays, and each committed event has the facts of its row', async () => {
    const { sql } = world.database;
    const provider = new ScriptedProvider();
    const replica = await world.replica({ protocols: [provider.protocol('job')] });
    const key = await world.newKey(100);
    const { id } = await replica.create(key, { webhook_url: 'https://example.com/hook' });
    await replica.ended(id, key.organization_id);
    await until('the end is announced', () => replica.announced.includes(id));
    await replica.close();
    const replica_id = `webhooks-${crypto.randomUUID()}`;
    await sql`insert into replica (id, lease_until) values (${replica_id}, now() + interval '1 h')`;
    const statuses = [500, 503, 204];
    const kind = webhookKind({
      sql,
      secretOf: async () => `whsec_${btoa('a secret of 24 bytes....')}`,
      payloadOf: async () => '{}',
      fetch: async () => ({ status: statuses.shift() ?? 204, stream: new ReadableStream() }),
      now: Date.now,
    });
    const { actors, committed, run } = runtime(kind, replica_id);
    const delivery = await createDelivery(sql, id);
    await actors.send({
      kind: WEBHOOK_KIND,
      id,
      event: { type: 'ANNOUNCED' },
      create: true,
      ...delivery,
    });
    await until('the webhook is delivered', async () => {
      await run();
      return committed.at(-1)?.state === 'delivered';
    });

    const rows = await readHistory(sql, WEBHOOK_KIND, id, 0);
    expect(rows.map(({ to_state }) => to_state)).toEqual([
      ...['delivering', 'waiting', 'delivering', 'waiting', 'delivering', 'delivered'],
    ]);
    const facts = ({
      seq,
      taken,
      machine_version,
      context_hash,
      money,
    }: (typeof rows)[number]) => ({
      ...{ seq, taken, machine_version, context_hash, money },
    });
    expect(committed).toMatchObject(
      rows.map((row) => ({
        ...facts(row),
        kind: WEBHOOK_KIND,
        id,
        organization_id: key.organization_id,
        event: row.event,
        state: row.to_state,
      })),
    );
    const replayed = replay(kind, rows, sha256);
    expect(replayed.map(({ context_hash }) => context_hash)).toEqual(
      rows.map(({ context_hash }) => context_hash as string),
    );
    expect(replayed.at(-1)?.snapshot.context).toEqual({ attempts: 3, last_status: 204 });
    expect((await replayAll(sql)).problems).toEqual([]);

    const pages = [await readHistory(sql, WEBHOOK_KIND, id, 0, 4)];
    pages.push(await readHistory(sql, WEBHOOK_KIND, id, 4, 4));
    expect(pages.map((page) => page.map(({ seq }) => seq))).toEqual([
      [1, 2, 3, 4],
      [5, 6],
    ]);
  });

  test('of a task has the money of its hold: held, then settled and released', async () => {
    const { sql } = world.database;
    const provider = new ScriptedProvider();
    const replica = await world.replica({ protocols: [provider.protocol('job')] });
    const key = await world.newKey(100);
    const { id } = await replica.create(key);
    await replica.ended(id, key.organization_id);
    await replica.close();
    const rows = await readHistory(sql, 'task', id, 0);
    const [hold] = await sql<{ amount: number; charged: number }[]>`
      select amount_nano_usd as amount, charged_nano_usd as charged
      from hold join task on task.hold_id = hold.id where task.id = ${id}`;
    if (!hold) throw new Error('the task has no hold');
    expect(rows.flatMap(({ money }) => money ?? [])).toEqual([
      { held: hold.amount },
      { settled: hold.charged, released: hold.amount - hold.charged },
    ]);
  });

  test('comes with a row that says since when the actor has been in its state', async () => {
    const { sql } = world.database;
    const replica_id = `since-${crypto.randomUUID()}`;
    await sql`insert into replica (id, lease_until) values (${replica_id}, now() + interval '1 h')`;
    const kind: DurableKind = {
      ...{ kind: 'counter', ...VERSION_1, effects: {}, effect_timeout_ms: 1, max_attempts: 1 },
      eventOfDeadEffect: () => ({ type: 'END' }),
    };
    const { actors } = runtime(kind, replica_id);
    const rowAfter = async (type: string) => {
      await Bun.sleep(2);
      const event = { type, amount: 1 };
      await actors.send({ kind: 'counter', id: 'c', event, create: true, organization_id: 'org' });
      const [row] = await sql<{ state: string; since: Date; organization_id: string }[]>`
        select state, since, organization_id from actor where kind = 'counter'`;
      if (!row) throw new Error('the actor has no row');
      return { ...row };
    };
    const created = await rowAfter('ADD');
    expect(created).toMatchObject({ state: 'counting', organization_id: 'org' });
    expect(await rowAfter('ADD')).toEqual(created);
    const ended = await rowAfter('END');
    expect(ended.state).toBe('ended');
    expect(ended.since.getTime()).toBeGreaterThan(created.since.getTime());
  });
});
