/**
 * Requests that the documentation of the vendors shows: the simulator takes each, and a channel of the
 * vendor's own protocol sends each member of it unchanged.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { CHAT_PROTOCOLS, type ChatProtocol } from '../../../../src/protocols/names.ts';
import { requestProtocolOf } from '../../../../src/upstreams/chat/protocols.ts';
import { type RunningSimulator, startSimulator } from '../../../support/simulator.ts';
import { type RunningWeir, startWeir } from '../../../support/weir.ts';
import { CHAT_WITNESSES } from '../witnesses/table.ts';
import type { ChatRequest } from './request.ts';
import { NATIVE_REQUESTS } from './requests-native.ts';
import { OPENAI_REQUESTS } from './requests-openai.ts';

setDefaultTimeout(60_000);

const REQUESTS = [...OPENAI_REQUESTS, ...NATIVE_REQUESTS];
const isChat = (name: string) => CHAT_PROTOCOLS.some((each) => each === name);
const nameOf = (at: number) => `documented-${at}`;
const KEY = 'sim-documented';
const VERTEX = '/vertex/v1/projects/p/locations/l/publishers/google';

/** The path of a request in the simulator, and its headers. */
function addressOf({ protocol, method: declared }: ChatRequest) {
  const bearer = { authorization: `Bearer ${KEY}` };
  const method = declared ?? 'generateContent';
  const google = `/models/gemini-2.5-flash:${method}${method.startsWith('stream') ? '?alt=sse' : ''}`;
  const addresses: Record<ChatProtocol, [path: string, headers: object]> = {
    openai: ['/openai/v1/chat/completions', bearer],
    'openai-responses': ['/openai/v1/responses', bearer],
    'azure-openai': ['/azure/openai/v1/chat/completions', { 'api-key': KEY }],
    anthropic: ['/anthropic/v1/messages', { 'x-api-key': KEY, 'anthropic-version': '2023-06-01' }],
    bedrock: ['/bedrock/model/anthropic.claude-sonnet-4-6/invoke', bearer],
    gemini: [`/google/v1beta${google}`, { 'x-goog-api-key': KEY }],
    vertex: [VERTEX + google, bearer],
  };
  return addresses[protocol];
}

/** The model of each simulated request. */
const MODELS: Partial<Record<ChatProtocol, string>> = {
  ...{ openai: 'gpt-4o', 'openai-responses': 'gpt-5', 'azure-openai': 'gpt-4o' },
  anthropic: 'claude-sonnet-4-6',
};

const answers: Record<string, object> = {
  openai: { id: 'c', choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }] },
  responses: { id: 'r', object: 'response', status: 'completed', output: [] },
  anthropic: { id: 'm', type: 'message', content: [], stop_reason: 'end_turn' },
  gemini: { candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] },
};
const received = new Map<number, unknown>();
const provider = Bun.serve({
  ...{ port: 0, hostname: '127.0.0.1' },
  async fetch(request) {
    const at = Number(new URL(request.url).pathname.split('/')[1]);
    received.set(at, await request.json());
    const { protocol } = REQUESTS[at] as ChatRequest;
    return Response.json(answers[requestProtocolOf(protocol)]);
  },
});

function configuration(): string {
  const channels = REQUESTS.map(({ protocol, dialect }, at) => ({
    ...{ id: nameOf(at), protocol, base_url: `${provider.url.origin}/${at}`, api_key: 'key' },
    ...(dialect === undefined ? {} : { dialect }),
    models: { [nameOf(at)]: 'physical' },
  }));
  const models = REQUESTS.map((_, at) => ({
    ...{ id: nameOf(at), category: 'chat', owned_by: 'us', family: 'openai-chat' },
    ...{ context_window: 1_000_000, max_output_tokens: 64_000 },
    capabilities: ['vision', 'reasoning'],
    price: { input_usd_per_mtok: 1, output_usd_per_mtok: 10, usd_per_web_search: 0.01 },
  }));
  return JSON.stringify({ channels, models, roles: { standard: 1_000_000 } });
}

let weir: RunningWeir;
let simulator: RunningSimulator;
beforeAll(async () => {
  simulator = await startSimulator();
  weir = await startWeir({ config: configuration(), shared_database: true });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
  await provider.stop(true);
});

const ROWS = REQUESTS.map((each, at) => [each.vendor, each.source, at, each] as const);

describe('the simulator takes the documented request', () => {
  const rows = ROWS.filter(([, , , { not_simulated }]) => not_simulated === undefined);
  test.each(rows)('%s (%s) %i', async (_vendor, _source, _at, request) => {
    const [path, headers] = addressOf(request);
    const model = MODELS[request.protocol];
    const response = await fetch(simulator.url + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(model === undefined ? request.body : { model, ...request.body }),
    });
    expect({ status: response.status, text: response.ok ? '' : await response.text() }).toEqual({
      ...{ status: 200, text: '' },
    });
  });
});

/** Members that Weir adds: limits of the price, the usage of a stream, and that only Weir stores responses. */
const ADDED = ['limit', 'max_output_tokens', 'max_tool_calls', 'stream_options', 'store'];

/** Returns a body with one name for the limit of a chat completion, and with one form of the input. */
function comparable({ max_tokens, max_completion_tokens, input, ...rest }: ChatRequest['body']) {
  const limit = max_completion_tokens ?? max_tokens;
  const text = typeof input === 'string' ? [{ type: 'input_text', text: input }] : undefined;
  const items = text ? [{ role: 'user', content: text }] : (input as object[] | undefined);
  return {
    ...rest,
    ...(limit === undefined ? {} : { limit }),
    ...(items ? { input: items.map((item) => ({ type: 'message', ...item })) } : {}),
  };
}

describe('Weir forwards the documented request', () => {
  // No client speaks Bedrock's protocol.
  const rows = ROWS.filter(([, , , { protocol }]) => protocol !== 'bedrock');
  test.each(rows)('%s (%s) %i', async (_vendor, _source, at, request) => {
    const { protocol, body, method = 'generateContent' } = request;
    const paths: Record<string, string> = {
      openai: '/v1/chat/completions',
      ...{ responses: '/v1/responses', anthropic: '/v1/messages' },
      gemini: `/v1beta/models/${nameOf(at)}:${method}`,
    };
    const written = requestProtocolOf(protocol);
    const response = await fetch(weir.base_url + paths[written], {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
        'anthropic-version': '2023-06-01',
      },
      body: JSON.stringify(written === 'gemini' ? body : { model: nameOf(at), ...body }),
    });
    const answer = await response.text();
    // A whole answer to a stream is refused, after the request was sent.
    const isStream = body['stream'] === true || method === 'streamGenerateContent';
    expect({ status: response.status, answer }).toMatchObject({ status: isStream ? 502 : 200 });
    const sent = received.get(at) as Record<string, unknown>;
    const expected = comparable(written === 'gemini' ? body : { model: 'physical', ...body });
    const added = ADDED.filter((name) => !(name in expected));
    const rest = Object.entries(comparable(sent)).filter(([name]) => !added.includes(name));
    expect(Object.fromEntries(rest)).toEqual(expected);
  });
});

test('the table of witnesses has the number of requests of each vendor', () => {
  const rows = CHAT_WITNESSES.filter(({ protocol }) => isChat(protocol));
  const counted = rows.map(({ provider: vendor, protocol }) => ({
    ...{ vendor, protocol },
    requests: REQUESTS.filter((each) => each.vendor === vendor && each.protocol === protocol)
      .length,
  }));
  expect(counted).toEqual(
    rows.map(({ provider: vendor, protocol, payloads }) => ({
      ...{ vendor, protocol, requests: payloads.requests },
    })),
  );
});
