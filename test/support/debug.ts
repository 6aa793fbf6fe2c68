/**
 * Two replicas whose calls can be copied by debug windows, and the official client package, whose
 * bytes are compared with the copies.
 */
import { expect } from 'bun:test';
import OpenAI from 'openai';
import { createTestDatabase, type TestDatabase } from './postgres.ts';
import { type RunningSimulator, startSimulator } from './simulator.ts';
import { until } from './until.ts';
import { type RunningWeir, startWeir } from './weir.ts';

export interface DebugWindow {
  id: string;
  status: string;
  stored_calls: number;
  stored_bytes: number;
  closes_at: string;
  delete_at: string;
}

interface ShownBody {
  content_type: string | null;
  bytes: number;
  truncated: boolean;
  encoding: string;
  body: string;
}

interface ShownCopy {
  path: string;
  status: number;
  window_id: string;
  request: ShownBody;
  answer: ShownBody;
}

/** The bytes that the client package sent and got in its latest exchange. */
interface Seen {
  client: OpenAI;
  sent: () => string;
  got: () => Promise<string>;
  id: () => string | null;
}

/** The words that must be in no row. */
export const SECRET_WORDS = 'The moon is made of green cheese';
/** The body of a chat call. */
export const question = (text = SECRET_WORDS) => ({
  model: 'gpt-4o',
  messages: [{ role: 'user' as const, content: text }],
});

/** What `startDebugWorld` returns. */
export type DebugWorld = Awaited<ReturnType<typeof startDebugWorld>>;

export async function startDebugWorld() {
  const simulator: RunningSimulator = await startSimulator();
  const database: TestDatabase = await createTestDatabase();
  const channel = (id: string, protocol: string, path: string, models: object) => ({
    ...{ id, protocol, base_url: simulator.url + path, api_key: `sim-${id}`, models },
  });
  const config = JSON.stringify({
    channels: [
      channel('one', 'openai', '/openai/v1', {
        'gpt-4o': 'gpt-4o',
        'tts-1': 'tts-1',
        'whisper-1': 'whisper-1',
      }),
      channel('two', 'midjourney', '/midjourney/mj', { midjourney: 'MID_JOURNEY' }),
    ],
    roles: { standard: 1_000_000 },
  });
  const env = {
    DATABASE_URL: database.url,
    WEIR_SECRET_KEY: 'the same on both replicas of this test',
  };
  const first = await startWeir({ config, env });
  const replicas: RunningWeir[] = [first, await startWeir({ config, env })];
  const weir = (replica = 0): RunningWeir => {
    const found = replicas[replica];
    if (!found) throw new Error('no such replica');
    return found;
  };

  function manage(method: string, path: string, body?: object, replica = 0): Promise<Response> {
    return fetch(`${weir(replica).base_url}/v1/management${path}`, {
      method,
      headers: {
        authorization: `Bearer ${weir().management_token}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  }

  async function openWindow(wish: object = {}): Promise<DebugWindow> {
    const response = await manage('POST', '/debug-windows', wish);
    expect(response.status).toBe(200);
    return (await response.json()) as DebugWindow;
  }
  const closeWindow = async (id: string) =>
    (await (await manage('POST', `/debug-windows/${id}/close`)).json()) as DebugWindow;
  const readWindow = async (id: string) =>
    (await (await manage('GET', `/debug-windows/${id}`)).json()) as DebugWindow;

  /** Opens a window on the first replica, runs `work`, and closes the window. */
  async function whileOpen(work: (window: DebugWindow) => Promise<void>, wish: object = {}) {
    const window = await openWindow(wish);
    try {
      await work(window);
    } finally {
      await closeWindow(window.id);
    }
  }

  async function readCopy(request_id: string | null, replica = 0): Promise<ShownCopy> {
    const path = `/requests/${request_id}/debug`;
    return until(`the copy of ${request_id}`, async () => {
      const response = await manage('GET', path, undefined, replica);
      return response.ok ? ((await response.json()) as ShownCopy) : undefined;
    });
  }

  function client(replica = 0, apiKey = weir().api_key): Seen {
    let sent = '';
    let answer: ReturnType<Awaited<ReturnType<typeof fetch>>['clone']> | undefined;
    const spy = async (url: string | URL | Request, init?: RequestInit) => {
      sent = typeof init?.body === 'string' ? init.body : '';
      const response = await fetch(url, init);
      answer = response.clone();
      return response;
    };
    return {
      client: new OpenAI({
        ...{ baseURL: `${weir(replica).base_url}/v1`, apiKey, maxRetries: 0 },
        fetch: spy as typeof fetch,
      }),
      sent: () => sent,
      got: async () => (await answer?.text()) ?? '',
      id: () => answer?.headers.get('x-request-id') ?? null,
    };
  }

  /** Every table that has the text in a row, as text or as bytes. */
  async function tablesWith(text: string): Promise<string[]> {
    const { sql } = database;
    const tables = await sql<{ name: string }[]>`
      select table_name as name from information_schema.tables where table_schema = 'public'`;
    const found: string[] = [];
    for (const { name } of tables) {
      const [row] = await sql<{ has: boolean }[]>`
        select exists (select from ${sql(name)} as each where each::text like ${`%${text}%`}
          or each::text like ${`%${Buffer.from(text).toString('hex')}%`}) as has`;
      if (row?.has) found.push(name);
    }
    return found;
  }

  return {
    ...{ database, weir, manage, openWindow, closeWindow, readWindow, whileOpen, readCopy, client },
    tablesWith,
    async stop() {
      await Promise.all(replicas.map((each) => each.stop()));
      await simulator.stop();
      await database.drop();
    },
  };
}
