/** A setting says how many of its last events an actor in memory keeps. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(90_000);

const FEW = 8;
let database: TestDatabase;
let few: RunningWeir;
let usual: RunningWeir;
beforeAll(async () => {
  database = await createTestDatabase();
  const channel = {
    ...{ id: 'away', protocol: 'openai', base_url: 'http://127.0.0.1:1/v1', api_key: 'key' },
    models: { 'gpt-4o': 'physical' },
  };
  const config = JSON.stringify({ channels: [channel] });
  const env = { DATABASE_URL: database.url };
  few = await startWeir({ config, env: { ...env, WEIR_ACTOR_EVENTS: String(FEW) } });
  usual = await startWeir({ config, env });
});
afterAll(async () => {
  await few.stop();
  await usual.stop();
  await database.drop();
});

async function send<Answer>(weir: RunningWeir, method: string, path: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${weir.operator_token}` };
  const response = await fetch(`${weir.base_url}/v1/operator${path}`, { method, headers });
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as Answer;
}

test('an actor keeps as many events as the setting of its replica says, and they replay', async () => {
  const switches = 12;
  for (let index = 0; index < switches; index += 1) {
    const act = index % 2 === 0 ? 'disable' : 'enable';
    await send(few, 'POST', `/channels/away/${act}`);
    // The other replica applies each switch too, and not only the last of several.
    await until('both replicas have applied the switch', async () => {
      const path = '/inspect/actors?kind=channel&id=away';
      const { data } = await send<{ data: { seq: number }[] }>(few, 'GET', path);
      return data.length === 2 && data.every(({ seq }) => seq > index);
    });
  }
  const actor = '/inspect/actors/channel/away%2Fgpt-4o';
  const { replicas } = await send<{ replicas: string[] }>(few, 'GET', actor);
  const kept = await Promise.all(
    replicas.map(async (replica) => {
      const query = `?replica=${replica}`;
      const { data, first_seq } = await send<{ data: { seq: number }[]; first_seq: number }>(
        ...([usual, 'GET', `${actor}/events${query}`] as const),
      );
      const last = data.at(-1)?.seq ?? 0;
      expect(first_seq).toBe(last - data.length + 1);
      const moment = await send<{ is_verified: boolean }>(
        ...([few, 'GET', `${actor}/events/${last}${query}`] as const),
      );
      expect(moment.is_verified).toBe(true);
      return { kept: data.length, last };
    }),
  );
  const [least, most] = kept.toSorted((one, other) => one.kept - other.kept);
  expect(least?.kept).toBe(FEW);
  expect(most?.kept).toBe(most?.last);
  expect(most?.kept).toBeGreaterThanOrEqual(switches);
});
