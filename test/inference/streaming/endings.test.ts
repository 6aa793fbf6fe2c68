/**
 * The usage that a stream is charged by, for every way in which a stream can end. What the upstream
 * reported of the input is charged at its own price, also if the answer is not complete.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Consumption, Reservation } from '../../../src/actors/money/reservation.ts';
import { builtInModels } from '../../../src/catalogue/built-in.ts';
import { Catalogue, type ChatModel } from '../../../src/catalogue/catalogue.ts';
import { Budget } from '../../../src/inference/budget/budget.ts';
import type { InferenceCall } from '../../../src/inference/call.ts';
import { openStream } from '../../../src/inference/streaming/open-stream.ts';
import { StreamRun } from '../../../src/inference/streaming/stream.ts';
import type { ClientProtocol } from '../../../src/protocols/names.ts';
import { protocolFor } from '../../../src/upstreams/chat/protocols.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { channelActor, channelConfig } from '../../support/channels.ts';
import { startUpstream, streamed, type Upstream } from '../../upstreams/upstream.ts';

let upstream: Upstream;
beforeAll(() => {
  upstream = startUpstream();
});
afterAll(() => upstream.stop());

const catalogue = new Catalogue(builtInModels());
const modelOf = (id: string) => catalogue.find(id) as ChatModel;
const event = (data: { type: string; [member: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

/** An answer of Anthropic with every kind of input. */
const MESSAGE = [
  event({
    type: 'message_start',
    message: {
      ...{ id: 'msg_x', type: 'message', role: 'assistant', model: 'physical', content: [] },
      usage: {
        ...{ input_tokens: 11, cache_read_input_tokens: 13, cache_creation_input_tokens: 17 },
        cache_creation: { ephemeral_5m_input_tokens: 7, ephemeral_1h_input_tokens: 10 },
        output_tokens: 1,
      },
    },
  }),
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  event({
    ...{ type: 'content_block_delta', index: 0 },
    delta: { type: 'text_delta', text: 'one two' },
  }),
];
const MESSAGE_END = [
  event({ type: 'content_block_stop', index: 0 }),
  event({
    ...{ type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    usage: { output_tokens: 2, server_tool_use: { web_search_requests: 3 } },
  }),
  event({ type: 'message_stop' }),
];

const content = (text: string, more: object = {}) =>
  `data: ${JSON.stringify({
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...more }],
    usageMetadata: {
      ...{ promptTokenCount: 40, cachedContentTokenCount: 15, candidatesTokenCount: 2 },
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 10 },
        { modality: 'AUDIO', tokenCount: 30 },
      ],
      cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 12 }],
    },
  })}\n\n`;

interface Form {
  readonly protocol: ClientProtocol;
  readonly channel: 'anthropic' | 'gemini';
  readonly model: string;
  readonly begin: string[];
  readonly end: string[];
  /**
   * The tokens of the usage line that are known before the end. The line does not tell tokens with
   * a price of their own, e.g. audio. Only the charge shows them.
   */
  readonly input: object;
  /** The charge of the input, in nano-USD. */
  readonly input_nano_usd: number;
  /** The charge that only the end reports, in nano-USD. */
  readonly end_nano_usd: number;
  /** The price of an output token, in nano-USD. */
  readonly output_nano_usd: number;
}

const FORMS: Form[] = [
  {
    ...{ protocol: 'anthropic', channel: 'anthropic', model: 'claude-sonnet-4-5' },
    ...{ begin: MESSAGE, end: MESSAGE_END },
    input: { input_tokens: 11, cached_input_tokens: 13, cache_write_tokens: 17 },
    input_nano_usd: 11 * 3_000 + 13 * 300 + 7 * 3_750 + 10 * 6_000,
    end_nano_usd: 3 * 10_000_000,
    output_nano_usd: 15_000,
  },
  {
    ...{ protocol: 'gemini', channel: 'gemini', model: 'gemini-2.5-flash' },
    ...{ begin: [content('one two')], end: [content('', { finishReason: 'STOP' })] },
    input: { input_tokens: 25, cached_input_tokens: 15, cache_write_tokens: 0 },
    input_nano_usd: 7 * 300 + 18 * 1_000 + 3 * 30 + 12 * 100,
    end_nano_usd: 0,
    output_nano_usd: 2_500,
  },
];

async function scene(form: Form, answer: () => Response, extend = (amount: number) => amount) {
  upstream.answer = answer;
  const config = channelConfig('a', { base_url: upstream.url, timeout_ms: 1_500 });
  const channel = channelActor(config, new VirtualClock());
  const settled: (Consumption & { actual: number })[] = [];
  const owner = {
    extend: async (_: string, { amount }: { amount: number }) => extend(amount),
    settle: async (_: string, _reserved: number, line: Consumption, actual: number) => {
      settled.push({ ...line, actual });
      return { charged: actual, overrun: 0 };
    },
    takeBack: () => {},
    release: () => {},
  };
  const model = modelOf(form.model);
  const body = { model: model.id, max_tokens: 10_000, stream: true, messages: [], contents: [] };
  const call: InferenceCall = {
    ...{ protocol: form.protocol, request_id: crypto.randomUUID(), model, body, stream: true },
    ...{ body_text: JSON.stringify(body), headers: {}, signal: new AbortController().signal },
    key: { id: 'key', organization_id: 'org', models: [] },
  };
  const budget = new Budget(call);
  const reservation = new Reservation(owner, 'grant', budget.amountToReserve(true));
  const permit = channel.tryAcquire();
  if (!permit) throw new Error('a fresh channel has room');
  const protocol = protocolFor(form.protocol, form.channel);
  const open = await openStream(call, permit, protocol, undefined);
  const run = new StreamRun({ call, open, reservation, budget, onError: () => {} });
  return { body: run.body(), settled };
}

/** Every way in which a stream ends, and what it does. */
const ENDINGS: Record<string, (form: Form) => Promise<(Consumption & { actual: number })[]>> = {
  completed: async (form) => {
    const { body, settled } = await scene(form, () => streamed([...form.begin, ...form.end]));
    await new Response(body).text();
    return settled;
  },
  'broken by the upstream': async (form) => {
    const { body, settled } = await scene(form, () => streamed(form.begin, true));
    await new Response(body).text();
    return settled;
  },
  'left by the client': async (form) => {
    const { body, settled } = await scene(form, () =>
      streamed([...form.begin, ': wait\n\n'.repeat(9)], true),
    );
    const reader = body.getReader();
    await reader.read();
    await reader.cancel();
    while (settled.length === 0) await Bun.sleep(1);
    return settled;
  },
  'cut short for lack of money': async (form) => {
    // More text than the first reservation covers.
    const long = form.begin.map((each) => each.replace('one two', 'one two '.repeat(9_000)));
    const { body, settled } = await scene(
      form,
      () => streamed([...long, ...form.end]),
      () => 0,
    );
    await new Response(body).text();
    return settled;
  },
};

describe.each(FORMS)('a stream of $model', (form) => {
  test.each(Object.entries(ENDINGS))('%s', async (name, run) => {
    const [line, ...others] = await run(form);
    expect(others).toEqual([]);
    expect(line).toMatchObject(form.input);
    const { output_tokens = 0, actual } = line ?? {};
    expect(output_tokens).toBeGreaterThan(0);
    const end = name === 'completed' ? form.end_nano_usd : 0;
    expect(actual).toBe(form.input_nano_usd + end + output_tokens * form.output_nano_usd);
  });
});
