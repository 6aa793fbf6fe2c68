/** A timer that was set again never takes a firing that was found before. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { setup } from 'xstate';
import { type DueTimer, findDueTimers } from '../../../db/actors/store.ts';
import { connectDatabase, type Database } from '../../../db/client.ts';
import { systemClock, systemIdSource } from '../../../src/actors/clock.ts';
import type { ActorCommand, CommandResult } from '../../../src/actors/durable/command.ts';
import { CommandBatch } from '../../../src/actors/durable/command-batch.ts';
import { DurableActors } from '../../../src/actors/durable/durable.ts';
import type { DurableKind } from '../../../src/actors/durable/kind.ts';
import { createTestDatabase } from '../../support/postgres.ts';

/** An alarm clock: it is set, canceled, set again, and rings once. */
const alarmMachine = setup({
  types: {
    context: {} as Record<string, never>,
    events: {} as { type: 'SET' } | { type: 'CANCEL' } | { type: 'RING' },
  },
  actions: {
    setTimer: (_, _params: { name: string; delay_ms: number; event: { type: string } }) =>
      undefined,
    cancelTimer: (_, _params: { name: string }) => undefined,
  },
}).createMachine({
  id: 'alarm',
  context: {},
  initial: 'off',
  states: {
    off: { on: { SET: 'on' } },
    on: {
      entry: {
        type: 'setTimer',
        params: { name: 'alarm', delay_ms: 0, event: { type: 'RING' } },
      },
      on: {
        SET: { target: 'on', reenter: true },
        CANCEL: { target: 'off', actions: { type: 'cancelTimer', params: { name: 'alarm' } } },
        RING: 'rung',
      },
    },
    rung: { on: { SET: 'on' } },
  },
});

const alarmKind: DurableKind = {
  kind: 'alarm',
  machine: alarmMachine,
  version: 1,
  effects: {},
  effect_timeout_ms: 1_000,
  max_attempts: 1,
  eventOfDeadEffect: () => ({ type: 'CANCEL' }),
};

const replica_id = 'timers';
let database: Database;
let actors: DurableActors;
let drop: () => Promise<void>;

beforeAll(async () => {
  const fresh = await createTestDatabase();
  drop = fresh.drop;
  database = connectDatabase(fresh.url, { pool: 'background' });
  await database.sql`
    insert into replica (id, lease_until) values (${replica_id}, now() + interval '1 hour')`;
  actors = new DurableActors({
    sql: database.sql,
    clock: systemClock,
    ids: systemIdSource,
    kinds: [alarmKind],
    replica_id: () => replica_id,
    onCommitted: () => undefined,
    onError: () => undefined,
  });
});

afterAll(async () => {
  await database.close();
  await drop();
});

const command = (id: string, type: string): ActorCommand => ({
  kind: 'alarm',
  id,
  event: { type },
  create: true,
});

/** Reads the due timer of an alarm, as a poll does. */
async function dueTimer(id: string): Promise<DueTimer> {
  const due = await findDueTimers(database.sql, replica_id, 100);
  const timer = due.find(({ actor_id }) => actor_id === id);
  if (!timer) throw new Error(`${id} has no due timer`);
  return timer;
}

const fire = (timer: DueTimer): ActorCommand => ({
  kind: 'alarm',
  id: timer.actor_id,
  event: { type: 'RING' },
  timer,
});

test('the firing of a canceled timer is stale, also after the timer was set again', async () => {
  await actors.send(command('canceled', 'SET'));
  const early = await dueTimer('canceled');
  await actors.send(command('canceled', 'CANCEL'));
  await actors.send(command('canceled', 'SET'));
  expect(await actors.send(fire(early))).toEqual({ type: 'stale' });
  const fired = await actors.send(fire(await dueTimer('canceled')));
  expect(fired).toMatchObject({ type: 'committed', taken: true });
});

test('the second firing of a fired timer is stale, also after the timer was set again', async () => {
  await actors.send(command('fired', 'SET'));
  const early = await dueTimer('fired');
  expect(await actors.send(fire(early))).toMatchObject({ type: 'committed', taken: true });
  await actors.send(command('fired', 'SET'));
  expect(await actors.send(fire(early))).toEqual({ type: 'stale' });
});

test.each([
  ['set again', ['SET']],
  ['canceled and set again', ['CANCEL', 'SET']],
  ['canceled', ['CANCEL']],
])('a firing is stale if an earlier command of its batch has %s the timer', async (name, types) => {
  const id = `batch ${name}`;
  await actors.send(command(id, 'SET'));
  const early = await dueTimer(id);
  const commands = [...types.map((type) => command(id, type)), fire(early)];
  const answers = await database.sql.begin(async (tx): Promise<CommandResult[]> => {
    const batch = new CommandBatch(tx, actors.kinds, systemIdSource, replica_id);
    await batch.run(commands.map((each) => ({ ...each, command_id: systemIdSource.uuid() })));
    return batch.answers;
  });
  expect((answers as CommandResult[]).at(-1)).toEqual({ type: 'stale' });
  const timers = await database.sql`select 1 from timer where actor_id = ${id}`;
  expect(timers).toHaveLength(types.at(-1) === 'SET' ? 1 : 0);
});
