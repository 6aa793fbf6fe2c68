/** The operator's books, tasks and history of circuits, on two replicas. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Static, TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { BooksSchema } from '../../../src/http/operator/books.ts';
import { CircuitHistorySchema } from '../../../src/http/operator/circuit-history.ts';
import { OperatorTaskListSchema } from '../../../src/http/operator/tasks.ts';
import { errorOf } from '../../support/envelope.ts';
import { startTenants, type Tenants } from '../../support/tenants.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(90_000);

let tenants: Tenants;
beforeAll(async () => {
  tenants = await startTenants();
});
afterAll(() => tenants.stop());

const ask = (path: string, weir = tenants.weir) =>
  tenants.send('GET', `/v1/operator${path}`, tenants.weir.operator_token, weir);

/** Reads an answer and checks that it has exactly the members of its schema. */
async function read<Schema extends TSchema>(
  schema: Schema,
  path: string,
  weir = tenants.weir,
): Promise<Static<Schema>> {
  const response = await ask(path, weir);
  const answer = await response.json();
  expect({ status: response.status, answer }).toEqual({ status: 200, answer });
  expect([...Value.Errors(schema, answer)]).toEqual([]);
  return answer as Static<Schema>;
}

describe('GET /v1/operator/channels/{id}/circuit-history', () => {
  const HISTORY = '/channels/canary-channel-openai/circuit-history';

  const chat = async (weir = tenants.weir) => {
    const response = await fetch(`${weir.base_url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tenants.home.api_key}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] }),
    });
    await response.text();
    return response.status;
  };

  test('200: every circuit of each replica is healthy since its start', async () => {
    const { data, circuits, channel } = await read(CircuitHistorySchema, HISTORY);
    expect({ data, channel }).toEqual({ data: [], channel: 'canary-channel-openai' });
    expect(circuits.map(({ model, state }) => [model, state])).toEqual([
      ['gpt-4o', 'healthy'],
      ['gpt-4o', 'healthy'],
    ]);
    expect(new Set(circuits.map(({ replica }) => replica)).size).toBe(2);
  });

  test('200: a circuit that opens is listed by each replica, with its cause and its end', async () => {
    const { simulator, weir, second } = tenants;
    await simulator.setAccount('canary-openai', { revoked: true });
    expect(await chat()).not.toBe(200);
    const closed = await until('both replicas say that it is closed', async () => {
      const answer = await read(CircuitHistorySchema, HISTORY, second);
      return answer.circuits.every(({ state }) => state === 'disabled') && answer;
    });
    expect(closed.circuits.map(({ cause }) => cause)).toEqual(['auth', 'auth']);
    const refused = closed.data.filter(({ to }) => to === 'disabled');
    expect(new Set(refused.map(({ replica }) => replica)).size).toBe(2);
    // One replica got the refusal. The other one followed it.
    expect(refused.map(({ is_from_peer }) => is_from_peer).sort()).toEqual([false, true]);
    for (const each of refused) {
      expect(each).toMatchObject({
        model: 'gpt-4o',
        from: 'healthy',
        cause: 'auth',
        left_at: null,
      });
      expect(Date.parse(each.open_until ?? '')).toBeGreaterThan(Date.parse(each.at));
    }

    await simulator.setAccount('canary-openai', {});
    const enable = '/v1/operator/channels/canary-channel-openai/enable';
    expect((await tenants.send('POST', enable, weir.operator_token)).status).toBe(200);
    const mended = await until('both replicas say that it is open', async () => {
      const answer = await read(CircuitHistorySchema, HISTORY);
      return answer.circuits.every(({ state }) => state === 'degraded') && answer;
    });
    // The end of a closed circuit is the time of the next change of the same replica.
    for (const end of mended.data.filter(({ to }) => to === 'degraded')) {
      const begin = mended.data.find(
        ({ to, replica }) => to === 'disabled' && replica === end.replica,
      );
      expect(begin?.left_at).toBe(end.at);
    }
    expect(mended.data.map(({ at }) => at)).toEqual(
      mended.data
        .map(({ at }) => at)
        .toSorted()
        .reverse(),
    );
  });

  test('200: pages and filters', async () => {
    const { data } = await read(CircuitHistorySchema, HISTORY);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const more: string = cursor && `&cursor=${cursor}`;
      const page: Static<typeof CircuitHistorySchema> = await read(
        CircuitHistorySchema,
        `${HISTORY}?limit=1${more}`,
      );
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(data.map(({ id }) => id));
    const replica = data[0]?.replica ?? '';
    const own = await read(CircuitHistorySchema, `${HISTORY}?replica=${replica}&model=gpt-4o`);
    expect(own.data).toEqual(data.filter((each) => each.replica === replica));
    expect((await read(CircuitHistorySchema, `${HISTORY}?model=gpt-4`)).data).toEqual([]);
    expect((await read(CircuitHistorySchema, `${HISTORY}?endDate=2020-01-01`)).data).toEqual([]);
  });

  test('404 for a channel that is not configured, 400 for a wrong parameter', async () => {
    const missing = await errorOf(await ask('/channels/nothing/circuit-history'), 404);
    expect(missing.param).toBe('id');
    expect((await errorOf(await ask(`${HISTORY}?since=1`), 400)).param).toBe('since');
  });
});

describe('GET /v1/operator/tasks', () => {
  test('200: the tasks of all organizations, with channel and state', async () => {
    const { home, away } = tenants;
    const { data } = await read(OperatorTaskListSchema, '/tasks');
    expect(data.map(({ id }) => id).sort()).toEqual([home.task, away.task].sort());
    for (const task of data) {
      expect(task).toMatchObject({
        channel: 'canary-channel-images',
        state: 'completed',
        submissions: 1,
        held_amount: 0,
      });
    }
    const path = `/tasks?organization_id=${away.id}&channel=canary-channel-images&status=completed`;
    const own = await read(OperatorTaskListSchema, path, tenants.second);
    expect(own.data.map(({ id, organization_id }) => [id, organization_id])).toEqual([
      [away.task, away.id],
    ]);
    expect((await read(OperatorTaskListSchema, '/tasks?channel=nothing')).data).toEqual([]);
  });

  test('400 for wrong parameters', async () => {
    expect((await errorOf(await ask('/tasks?limit=0'), 400)).param).toBe('limit');
    expect((await errorOf(await ask('/tasks?org=1'), 400)).param).toBe('org');
  });
});

describe('GET /v1/operator/books', () => {
  test('P1, P15, P16, 200: all sums add up, also those of a task that holds money', async () => {
    const { home } = tenants;
    await until('all usage lines were read', async () => {
      return (await read(BooksSchema, '/books', tenants.second)).overruns !== null;
    });
    const task = await tenants.createTask(home, 3_000);
    const held = await tenants.manage<{ held_amount: number }>('GET', `/tasks/${task}`);
    const books = await read(BooksSchema, '/books', tenants.second);
    expect(books).toMatchObject({
      conservation: { imbalances: 0, found: [] },
      unowned: { count: 0, found: [] },
      overruns: { count: 0, total: { usd: 0, nano_usd: '0' }, latest: [] },
      unknown_outcomes: { count: 0, oldest: [] },
      open_holds: { count: 1, amount: { usd: held.held_amount } },
      totals: { difference: { usd: 0, nano_usd: '0' } },
    });
    const { database } = tenants;
    const [row] = await database.sql`select sum(deposited_nano_usd)::text as sum from organization`;
    expect(books.totals.deposited.nano_usd).toBe(row?.['sum']);
    await until('the task has ended', async () => {
      const { status } = await tenants.manage<{ status: string }>('GET', `/tasks/${task}`);
      return status === 'completed';
    });
  });

  test('200: finds a sum that does not add up, an overrun, unowned money and an unknown outcome', async () => {
    const { sql } = tenants.database;
    const { home } = tenants;
    const [line] = await sql`select id from usage_line where organization_id = ${home.id} limit 1`;
    const id = line?.['id'] as string;
    await sql`update usage_line set overrun_nano_usd = 7, charged_nano_usd = charged_nano_usd + 1
      where id = ${id}`;
    await sql`insert into hold (id, key_id, organization_id, amount_nano_usd, reference, expires_at)
      values (${Bun.randomUUIDv7()}, ${home.key_id}, ${home.id}, 5, 'weir_none', now())`;
    await sql`insert into actor (kind, id, organization_id, machine_version, snapshot, state, live)
      values ('task', 'weir_lost', ${home.id}, 3, '{}', 'processing.unknown.resting', true)`;
    const books = await until('the audit runs again', async () => {
      const answer = await read(BooksSchema, '/books');
      return answer.overruns?.count === 1 && answer;
    });
    expect(books.conservation?.imbalances).toBeGreaterThan(0);
    expect(books.overruns).toMatchObject({
      total: { nano_usd: '7', usd: 7e-9 },
      latest: [{ organization_id: home.id, api_key_id: home.key_id, amount: { nano_usd: '7' } }],
    });
    expect(books.unowned).toMatchObject({
      count: 1,
      found: [{ what: 'hold without an actor', amount: { nano_usd: '5' } }],
    });
    expect(books.unknown_outcomes).toMatchObject({
      count: 1,
      oldest: [{ task_id: 'weir_lost', state: 'processing.unknown.resting' }],
    });
    await sql`delete from actor where id = 'weir_lost'`;
  });

  test('400 for a parameter', async () => {
    expect((await errorOf(await ask('/books?fresh=1'), 400)).param).toBe('fresh');
  });
});
