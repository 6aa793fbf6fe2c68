/**
 * What is reserved for a call covers the most that its provider may bill (P17). Requests of every
 * client protocol go through the real adapters of every channel protocol to an upstream that keeps
 * what it received.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { abilitiesOn } from '../../../src/catalogue/abilities.ts';
import { builtInModels } from '../../../src/catalogue/built-in.ts';
import { Catalogue, type ChatModel } from '../../../src/catalogue/catalogue.ts';
import { maxChargeFor } from '../../../src/catalogue/price.ts';
import { ChatRequestSchema } from '../../../src/http/chat/schema.ts';
import { ResponsesRequestSchema } from '../../../src/http/responses/schema.ts';
import { Budget, FIRST_STREAM_TOKENS } from '../../../src/inference/budget/budget.ts';
import { MessagesRequestSchema } from '../../../src/inference/requests/messages-schema.ts';
import {
  CHAT_PROTOCOLS,
  type ChatProtocol,
  CLIENT_PROTOCOLS,
  type ClientProtocol,
} from '../../../src/protocols/names.ts';
import { protocolFor } from '../../../src/upstreams/chat/protocols.ts';
import { fc } from '../../support/property.ts';
import { callOf, startUpstream, type Upstream } from '../../upstreams/upstream.ts';
import { type Draft, requestTexts } from './odd-requests.ts';
import { highestBill, JUDGED_MODELS } from './vendor-bill.ts';

const catalogue = new Catalogue(builtInModels());
const modelOf = (id: string) => catalogue.find(id) as ChatModel;
const SCHEMAS: Partial<Record<ClientProtocol, TSchema>> = {
  openai: ChatRequestSchema,
  responses: ResponsesRequestSchema,
  anthropic: MessagesRequestSchema,
};

let upstream: Upstream;
beforeAll(() => {
  upstream = startUpstream();
  upstream.answer = () => new Response('{}', { status: 400 });
});
afterAll(() => upstream.stop());

interface Scene extends Draft {
  client: ClientProtocol;
  channel: ChatProtocol;
  model: ChatModel;
}

/** Returns what the upstream receives; undefined if Weir refuses the request. */
async function sent(scene: Scene, body: Record<string, unknown>, max_output_tokens?: number) {
  const { client, channel, model, text, headers } = scene;
  const before = upstream.asked.length;
  const call = callOf(upstream.url, text, {
    body,
    model_max_output_tokens: model.max_output_tokens,
    model_abilities: abilitiesOn(model.declaration.abilities, channel),
    headers,
    max_output_tokens,
  });
  await protocolFor(client, channel)
    .complete(call)
    .catch(() => {});
  const asked = upstream.asked[before];
  return asked && { text: asked.text, beta: asked.headers.get('anthropic-beta') };
}

/** Checks one request. Returns false if Weir refuses the request. */
async function check(scene: Scene): Promise<boolean> {
  const { client, channel, model, text, headers } = scene;
  const body = JSON.parse(text);
  const schema = SCHEMAS[client];
  if (schema && !Value.Check(schema, body)) return false;
  const wire = await sent(scene, body);
  if (!wire) return false;
  const budget = new Budget({ protocol: client, model, body, body_text: text, headers });
  const bill = highestBill(channel, wire, model);
  const reserved = budget.amountToReserve(false);
  if (reserved < bill.total) throw new Error(`reserved ${reserved}, billed up to ${bill.total}`);
  const first = Math.min(bill.output.tokens, FIRST_STREAM_TOKENS);
  expect(budget.amountToReserve(true)).toBeGreaterThanOrEqual(bill.upTo(first));
  // Half of the money between the minimum and the whole amount.
  const minimum = budget.admissionRequest(reserved, new AbortController().signal).minimum();
  const held = Math.floor((minimum + reserved) / 2);
  const limit = budget.outputLimitFor(held, reserved);
  if (limit === undefined || limit === 1 || 'prediction' in body) return true;
  const clamped = await sent(scene, body, limit);
  if (!clamped) throw new Error('the request with a lower limit was not sent');
  const { output } = highestBill(channel, clamped, model);
  const cost = maxChargeFor(budget.covered_input_tokens, output.tokens, budget.price);
  if (cost > held) throw new Error(`holds ${held}, and asks for ${cost}: ${clamped.text}`);
  return true;
}

const scenes: fc.Arbitrary<Scene> = fc
  .record({
    client: fc.constantFrom(...CLIENT_PROTOCOLS),
    channel: fc.constantFrom(...CHAT_PROTOCOLS),
    model: fc.constantFrom(...JUDGED_MODELS).map(modelOf),
  })
  .chain((scene) => requestTexts(scene.client).map((draft) => ({ ...scene, ...draft })));

const show = ({ client, channel, model, text }: Scene) =>
  `${client} → ${channel}, ${model.id}: ${text}`;

describe('the reserved amount', () => {
  test('P17: covers the highest bill of what is sent, for every client and channel protocol', async () => {
    const pairs = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        scenes.map((scene) => ({ ...scene, [fc.toStringMethod]: () => show(scene) })),
        async (scene) => {
          if (await check(scene)) pairs.add(`${scene.client} ${scene.channel}`);
        },
      ),
      { numRuns: Number(process.env['BILL_RUNS'] ?? 2_500) },
    );
    expect(pairs.size).toBe(CLIENT_PROTOCOLS.length * CHAT_PROTOCOLS.length);
  }, 120_000);

  const user = '"messages":[{"role":"user","content":"Hi"}]';
  const turn = '"contents":[{"role":"user","parts":[{"text":"Hi"}]}]';
  const pdf = (source: string) =>
    `"messages":[{"role":"user","content":[{"type":"document","source":${source}}]}]`;
  for (const [name, client, model, members] of [
    [
      'two names of the limit',
      'openai',
      'gpt-4o-mini',
      `${user},"max_completion_tokens":1,"max_tokens":20000`,
    ],
    ['a limit of responses in chat', 'openai', 'gpt-4o-mini', `${user},"max_output_tokens":1`],
    [
      'a limit of Gemini in chat',
      'openai',
      'gpt-4o-mini',
      `${user},"generationConfig":{"maxOutputTokens":1}`,
    ],
    [
      'several candidates of Gemini',
      'gemini',
      'gemini-2.5-pro',
      `${turn},"generationConfig":{"candidateCount":8,"maxOutputTokens":100}`,
    ],
    [
      'a candidate count in a string',
      'gemini',
      'gemini-2.5-pro',
      `${turn},"generation_config":{"candidate_count":"8","max_output_tokens":"50"}`,
    ],
    [
      'two configs of Gemini',
      'gemini',
      'gemini-2.5-pro',
      `${turn},"generationConfig":{"maxOutputTokens":1},"generation_config":{"max_output_tokens":9999}`,
    ],
    [
      'a second config of Gemini without a limit',
      'gemini',
      'gemini-2.5-pro',
      `${turn},"generationConfig":{"maxOutputTokens":1},"generation_config":{}`,
    ],
    [
      'a document by URL',
      'anthropic',
      'claude-opus-4-7',
      `${pdf('{"type":"url","url":"https://a.example/b.pdf"}')},"max_tokens":9`,
    ],
    [
      'a video by URL',
      'gemini',
      'gemini-2.5-pro',
      '"contents":[{"parts":[{"fileData":{"fileUri":"https://youtu.be/x"}}]}]',
    ],
    [
      'a stored prompt',
      'responses',
      'gpt-4o-mini',
      '"input":"Hi","prompt":{"id":"pmpt_1"},"max_output_tokens":9',
    ],
  ] as const) {
    test(`P17: covers ${name}`, async () => {
      const text = `{"model":"${model}",${members}}`;
      const channel = { openai: 'openai', responses: 'openai-responses' } as const;
      const scene = {
        client,
        channel: client === 'openai' || client === 'responses' ? channel[client] : client,
        model: modelOf(model),
        text,
        headers: {},
      };
      expect(await check(scene)).toBe(true);
    });
  }

  test('P17: covers a long context that the client asks for with a beta header', async () => {
    const source = '{"type":"url","url":"https://a.example/b.pdf"}';
    const scene = {
      client: 'anthropic' as const,
      channel: 'anthropic' as const,
      model: modelOf('claude-sonnet-4-5'),
      text: `{"model":"claude-sonnet-4-5",${pdf(source)},"max_tokens":9}`,
      headers: { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'context-1m-2025-08-07' },
    };
    expect(await check(scene)).toBe(true);
  });
});
