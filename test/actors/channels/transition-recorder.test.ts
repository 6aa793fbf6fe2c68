/** The history of circuits: stored in groups, never lost while the database is away, and bounded. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  deleteOldTransitions,
  listTransitions,
  readCircuits,
} from '../../../db/channels/transitions.ts';
import { connectDatabase } from '../../../db/client.ts';
import type { ChannelTransition } from '../../../src/actors/channels/transition.ts';
import { TransitionRecorder } from '../../../src/actors/channels/transition-recorder.ts';
import { systemIdSource } from '../../../src/actors/clock.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const NOW_MS = Date.UTC(2026, 10, 25);

const change = (channel_id: string, more: Partial<ChannelTransition> = {}): ChannelTransition => ({
  ...{ channel_id, model: 'gpt-4o', from: 'healthy', to: 'open', reason: 'server' },
  ...{ open_until: NOW_MS + 5_000, returns: false, is_from_peer_hint: false, at_ms: NOW_MS },
  ...more,
});

const recorderOn = (sql = database.sql, errors: unknown[] = []) =>
  new TransitionRecorder({
    sql,
    clock: new VirtualClock(),
    ids: systemIdSource,
    replica_id: () => 'replica_1',
    onError: (error) => errors.push(error),
  });

const stored = async (channel_id: string) =>
  (await listTransitions(database.sql, channel_id, {}, { limit: 100 })).rows;

describe('the recorder of circuit changes', () => {
  test('stores changes with cause and end of the pause, and none twice', async () => {
    const recorder = recorderOn();
    recorder.record(change('a'));
    recorder.record(
      change('a', { from: 'open', to: 'degraded', reason: null, open_until: 0, at_ms: NOW_MS + 1 }),
    );
    expect(await stored('a')).toEqual([]);
    await Promise.all([recorder.flush(), recorder.flush()]);
    await recorder.stop();
    expect(await stored('a')).toMatchObject([
      { to_state: 'degraded', cause: null, open_until: null, left_at: null },
      {
        to_state: 'open',
        cause: 'server',
        replica_id: 'replica_1',
        at: new Date(NOW_MS),
        open_until: new Date(NOW_MS + 5_000),
        left_at: new Date(NOW_MS + 1),
      },
    ]);
  });

  test('keeps at most 10,000 changes that are not stored, and counts the dropped ones', async () => {
    const recorder = recorderOn();
    for (let n = 0; n < 10_003; n += 1) recorder.record(change('b', { at_ms: NOW_MS + n }));
    expect(recorder.dropped).toBe(3);
    await recorder.stop();
    const [row] = await database.sql`
      select count(*)::int4 as count, min(at) as first from channel_transition
      where channel_id = 'b'`;
    expect({ ...row }).toEqual({ count: 10_000, first: new Date(NOW_MS + 3) });
  });

  test('reports that the database is away, and ends', async () => {
    const gone = connectDatabase('postgres://weir@127.0.0.1:1/none', { pool: 'single' });
    const errors: unknown[] = [];
    const recorder = recorderOn(gone.sql, errors);
    recorder.record(change('c'));
    await gone.close();
    await recorder.stop();
    expect(errors).toHaveLength(1);
  });
});

describe('the retention of circuit changes', () => {
  test('deletes old rows, but not the latest one of a circuit of a living replica', async () => {
    const { sql } = database;
    await sql`insert into replica (id, lease_until) values ('alive', now() + interval '1 hour')`;
    await sql`insert into replica (id, lease_until, status) values ('gone', now(), 'dead')`;
    await sql`
      insert into channel_transition (id, channel_id, model, replica_id, from_state, to_state,
        is_from_peer, at)
      select gen_random_uuid(), 'c', 'gpt-4o', replica, 'healthy', state, false,
        now() - days * interval '1 day'
      from (values ('alive', 'open', 40), ('alive', 'degraded', 35), ('gone', 'open', 40),
        ('gone', 'open', 20)) as input(replica, state, days)`;
    expect(await deleteOldTransitions(sql, 30, 100)).toBe(2);
    expect((await stored('c')).map(({ replica_id, to_state }) => [replica_id, to_state])).toEqual([
      ['gone', 'open'],
      ['alive', 'degraded'],
    ]);
    const circuits = await readCircuits(sql, 'c', ['gpt-4o', 'gpt-4o-mini']);
    expect(circuits.map(({ model, replica_id, state }) => [model, replica_id, state])).toEqual([
      ['gpt-4o', 'alive', 'degraded'],
      ['gpt-4o-mini', 'alive', 'healthy'],
    ]);
  });
});
