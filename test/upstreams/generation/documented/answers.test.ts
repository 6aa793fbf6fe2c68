/**
 * Answers from documentation, from packages of strangers and from their tests. A scripted provider sends
 * them to a real Weir. The client gets what the source means, and its charge is what the source
 * reports, times the catalogue's price.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { connectDatabase, type Database } from '../../../../db/client.ts';
import { builtInModels } from '../../../../src/catalogue/built-in.ts';
import { filmOf } from '../../../support/mp4.ts';
import { physicalModel } from '../../../support/outgoing.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { type RunningWeir, startWeir } from '../../../support/weir.ts';
import { WITNESSES } from '../witnesses.ts';
import { DOCUMENTED_ANSWERS } from './all.ts';
import { BASE64, type DocumentedAnswer, FILES, PROVIDER } from './answer.ts';

setDefaultTimeout(120_000);

const ROUTES = {
  image: '/v1/images/generations',
  video: '/v1/videos/generations',
  music: '/v1/music/generations',
  '3d': '/v1/3d/generations',
} as const;
const FILE_BYTES: Readonly<Record<string, Uint8Array>> = {
  mp4: filmOf({ seconds: 5, width: 1280, height: 720 }),
  png: Buffer.from(BASE64, 'base64'),
  mp3: Buffer.from('ID3 song'),
  glb: Buffer.from('glTF model'),
};
const TYPES: Readonly<Record<string, string>> = {
  ...{ mp4: 'video/mp4', png: 'image/png', mp3: 'audio/mpeg', glb: 'model/gltf-binary' },
};

/** The number of the answer's steps that were sent, by the answer's number. */
const sent = new Map<number, number>();
const provider = Bun.serve({
  ...{ port: 0, hostname: '127.0.0.1' },
  fetch({ url }) {
    const { pathname, origin } = new URL(url);
    const [, first = ''] = pathname.split('/');
    if (first === 'files') {
      const kind = pathname.split('.').at(-1) ?? '';
      return new Response(FILE_BYTES[kind], { headers: { 'content-type': TYPES[kind] ?? '' } });
    }
    const at = Number(first.slice(1));
    const count = sent.get(at) ?? 0;
    sent.set(at, count + 1);
    const steps = DOCUMENTED_ANSWERS[at]?.steps ?? [];
    const { body, status = 200 } = steps[Math.min(count, steps.length - 1)] ?? { body: null };
    const text = JSON.stringify(body)
      .replaceAll(FILES, `${origin}/files`)
      .replaceAll(PROVIDER, `${origin}/a${at}`);
    return new Response(text, { status, headers: { 'content-type': 'application/json' } });
  },
});

const DECLARED = new Map(builtInModels().map((model) => [model.id, model]));
const nameOf = (at: number) => `documented-${at}`;

/** A model and a channel for each answer, so that all answers can be sent at the same time. */
function configuration(): string {
  const channels = DOCUMENTED_ANSWERS.map(({ protocol, model }, at) => ({
    ...{ id: nameOf(at), protocol, api_key: 'key', base_url: `${provider.url.origin}/a${at}` },
    models: { [nameOf(at)]: physicalModel(protocol, model) },
  }));
  const models = DOCUMENTED_ANSWERS.map(({ model }, at) => {
    const declared = DECLARED.get(model);
    if (!declared) throw new Error(`the catalogue has no ${model}`);
    return { ...declared, id: nameOf(at), aliases: [] };
  });
  return JSON.stringify({ channels, models });
}

let weir: RunningWeir;
let fresh: TestDatabase;
let database: Database;
beforeAll(async () => {
  fresh = await createTestDatabase();
  database = connectDatabase(fresh.url, { pool: 'single' });
  weir = await startWeir({ config: configuration(), env: { DATABASE_URL: fresh.url } });
});
afterAll(async () => {
  await weir.stop();
  await provider.stop(true);
  await database.close();
  await fresh.drop();
});

interface Answer {
  readonly id?: string;
  readonly status?: string;
  readonly data?: readonly object[];
  readonly video?: object;
  readonly videos?: readonly object[];
  readonly error?: unknown;
}

/** Calls the model of an answer, and returns the record of its task, or the whole answer. */
async function run(at: number): Promise<Answer> {
  const { model, call } = DOCUMENTED_ANSWERS[at] as DocumentedAnswer;
  const category = DECLARED.get(model)?.category as keyof typeof ROUTES;
  const headers = { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ model: nameOf(at), ...call });
  const created = await fetch(weir.base_url + ROUTES[category], { method: 'POST', headers, body });
  let record = (await created.json()) as Answer;
  while (record.status === 'pending' || record.status === 'processing') {
    await Bun.sleep(200);
    const polled = await fetch(`${weir.base_url}/v1/tasks/${record.id}`, { headers });
    record = (await polled.json()) as Answer;
  }
  return record;
}

/** Returns the results without Weir's own ids and URLs. */
function resultsIn({ data = [], video, videos }: Answer): object[] {
  const results = videos ?? (video ? [video] : data);
  return results.map((result) => {
    const { id: _, url, b64_json, ...rest } = result as { [name: string]: unknown };
    return { ...rest, ...(url || b64_json ? { file: true } : {}) };
  });
}

/** What Weir tells a client, for a task and for an answer without a task. */
const MESSAGES = {
  moderation: /refused by (?:a content safety check|the safety system)/,
  input: /inputs could not be used/,
  upstream: /generation failed|could not complete the generation/,
};

const ROWS = DOCUMENTED_ANSWERS.map(
  ({ protocol, source, gives }, at) => [protocol, source, at, gives] as const,
);

describe('a client gets what a documented answer means, and pays for it', () => {
  test.concurrent.each(ROWS)('%s (%s) %i', async (_protocol, _source, at, gives) => {
    const record = await run(at);
    const lines = await database.sql`
      select charged_nano_usd::int8 as charged from usage_line where model = ${nameOf(at)}`;
    const charges = lines.map(({ charged }) => charged);
    if ('fails' in gives) {
      expect(JSON.stringify(record)).toMatch(MESSAGES[gives.fails]);
      expect(charges).toEqual([]);
      return;
    }
    expect({ results: resultsIn(record), error: record.error }).toEqual({
      results: [...gives.data],
      error: undefined,
    });
    expect(charges).toEqual([Math.round(gives.usd * 1e9)]);
  });
});

test('the table of witnesses has the number of answers of each protocol', () => {
  const counted = WITNESSES.map(({ protocol }) => ({
    protocol,
    answers: DOCUMENTED_ANSWERS.filter((each) => each.protocol === protocol).length,
  }));
  expect(counted).toEqual(
    WITNESSES.map(({ protocol, payloads }) => ({ protocol, answers: payloads.answers })),
  );
});
