/**
 * P18 for chat: over every client protocol, every format of upstreams and every parameter that a
 * vendor's SDK declares, the parameter reaches the upstream, or is refused by name, or is on the list of
 * what is left out (`src/catalogue/left-out.ts`). A real Weir stands in front of the simulator, which
 * records what it receives.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import pLimit from 'p-limit';
import type { RecordedRequest } from '../../simulator/shared/books.ts';
import { CHAT_PATHS, isLeftOut, LEFT_OUT } from '../../src/catalogue/left-out.ts';
import { CLIENT_PROTOCOLS, type ClientProtocol } from '../../src/protocols/names.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { declaredParameters, PARAMETERS, withParameter } from '../support/taken-parameters.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(120_000);

/** One channel for each protocol of chat upstreams, each with a model of its own. */
const CHANNELS = {
  openai: { form: 'openai', model: 'gpt-4o-mini', path: '/openai/v1' },
  'azure-openai': { form: 'openai', model: 'gpt-4.1-mini', path: '/azure/openai/v1' },
  'openai-responses': { form: 'responses', model: 'gpt-4o', path: '/openai/v1' },
  anthropic: { form: 'anthropic', model: 'claude-haiku-4-5', path: '/anthropic' },
  bedrock: { form: 'anthropic', model: 'claude-sonnet-4-5', path: '/bedrock' },
  gemini: { form: 'gemini', model: 'gemini-2.5-flash', path: '/google/v1beta' },
} as const;
type Channel = keyof typeof CHANNELS;
const PARALLEL_CALLS = 16;

let simulator: RunningSimulator;
let weir: RunningWeir;
beforeAll(async () => {
  simulator = await startSimulator();
  const channels = Object.entries(CHANNELS).map(([protocol, { model, path }]) => ({
    ...{ id: protocol, protocol, base_url: simulator.url + path, api_key: `sim-${protocol}` },
    models: { [model]: `${model}-physical` },
  }));
  weir = await startWeir({
    config: JSON.stringify({ channels, roles: { standard: 1_000_000 } }),
    shared_database: true,
  });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
});

/** A request that was sent: its answer, and the mark by which the simulator's books show it. */
interface Sent {
  readonly mark: string;
  readonly status: number;
  readonly text: string;
}

let marks = 0;
/** The parameters that some upstream did not get. */
const silent = new Set<string>();

async function send(
  client: ClientProtocol,
  channel: Channel,
  change: (body: object) => object,
): Promise<Sent> {
  marks += 1;
  const mark = `mark-${marks}.`;
  const { model } = CHANNELS[channel];
  const text = `[[sim record=1 tokens=2]] ${mark}`;
  const messages = [{ role: 'user', content: text }];
  const plain: Record<ClientProtocol, object> = {
    openai: { model, messages },
    anthropic: { model, max_tokens: 40, messages },
    responses: { model, input: text, store: false },
    gemini: { contents: [{ role: 'user', parts: [{ text }] }] },
  };
  const response = await fetch(weir.base_url + CHAT_PATHS[client].replace('{model}', model), {
    method: 'POST',
    headers: {
      ...(client === 'gemini'
        ? { 'x-goog-api-key': weir.api_key }
        : { authorization: `Bearer ${weir.api_key}` }),
      ...{ 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    },
    body: JSON.stringify(change(plain[client])),
  });
  return { mark, status: response.status, text: await response.text() };
}

/** Returns what the upstream received for a request: its path and body without the mark. */
function received({ mark }: Sent, recorded: readonly RecordedRequest[]): string | undefined {
  const request = recorded.find(({ body }) => JSON.stringify(body).includes(mark));
  return request && `${request.path} ${JSON.stringify(request.body).replaceAll(mark, '')}`;
}

async function faultsOf(client: ClientProtocol, channel: Channel): Promise<string[]> {
  const limit = pLimit(PARALLEL_CALLS);
  const pairs = await Promise.all(
    PARAMETERS[client].map(async ({ name, value, beside = {} }) => ({
      ...{ name, value },
      without: await limit(() => send(client, channel, (body) => ({ ...body, ...beside }))),
      withIt: await limit(() =>
        send(client, channel, (body) => withParameter({ ...body, ...beside }, name, value)),
      ),
    })),
  );
  const { calls } = await simulator.books({ account: channel });
  const recorded = calls.flatMap(({ request }) => request ?? []);
  const { form } = CHANNELS[channel];
  const is_native = form === client;
  return pairs.flatMap(({ name, value, without, withIt }) => {
    const shown = `${client} on ${channel}: ${name} = ${JSON.stringify(value)}`;
    const { status, text } = withIt;
    if (status !== 200) {
      // What the model cannot do is refused by the client's own name for it.
      if (status === 400 && isNamed(text, name, is_native)) return [];
      return [`${shown}: ${status} ${text.slice(0, 300)}`];
    }
    const [before, after] = [received(without, recorded), received(withIt, recorded)];
    if (after === undefined) return [`${shown}: not recorded`];
    if (before !== after) return [];
    silent.add(`${CHAT_PATHS[client]} ${name}`);
    const isListed = (of: typeof form | 'bedrock') =>
      isLeftOut(CHAT_PATHS[client], name, value, of);
    const isForForm = isListed(form) && (!is_native || isOwn(client, name));
    const isForChannel = channel === 'bedrock' && isListed(channel);
    return isForForm || isForChannel ? [] : [`${shown}: taken, not sent`];
  });
}

/** True if Weir itself does what the parameter requests, for every upstream. */
function isOwn(client: ClientProtocol, name: string): boolean {
  return LEFT_OUT.some(
    ({ routes, param, reason, upstreams }) =>
      routes.includes(CHAT_PATHS[client]) && param === name && reason === 'own' && !upstreams,
  );
}

/**
 * True if the error names the parameter, or an object that has it. An upstream in the client's own
 * protocol may name it in its own words.
 */
function isNamed(text: string, name: string, is_native: boolean): boolean {
  const [, param = ''] = /"param":\s*"([^"]*)"/.exec(text) ?? [];
  const plain = param.replace(/\[\d+\]|\.\d+(?=\.|$)/g, '[]');
  const isParam =
    plain !== '' && (name === plain || isInside(name, plain) || isInside(plain, name));
  return isParam || (is_native && text.includes(name.split('.').at(-1) ?? name));
}

const isInside = (inner: string, outer: string) =>
  inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[]`);

describe.each([...CLIENT_PROTOCOLS])('P18: what a client of %s sends', (client) => {
  test('is every parameter of the vendor’s SDK', () => {
    const tried = new Set(
      PARAMETERS[client].flatMap(({ name }) => {
        const [first = '', second = ''] = name.split(/[.[]/);
        return first === 'generationConfig' ? [first, second] : [first];
      }),
    );
    const declared = declaredParameters(client);
    expect(declared.length).toBeGreaterThan(15);
    expect(declared.filter((name) => !tried.has(name))).toEqual([]);
  });

  test.each(Object.keys(CHANNELS) as Channel[])(
    'reaches an upstream of %s, or is refused by name, or is on the list',
    async (channel) => expect(await faultsOf(client, channel)).toEqual([]),
  );
});

/**
 * What has tests of its own: `test/upstreams/translation/requests.test.ts`,
 * `test/upstreams/translation/abilities.test.ts` and `test/http/stored-responses.test.ts`.
 */
const TESTED_ELSEWHERE = /\.content\[\]\.|previous_response_id$|tools\[\]\.type$|thinking\.type$/;

test('P18: the list of chat parameters has no entry that is always sent', () => {
  const paths: readonly string[] = Object.values(CHAT_PATHS);
  const needless = LEFT_OUT.flatMap(({ routes, param }) =>
    routes.filter((route) => paths.includes(route)).map((route) => `${route} ${param}`),
  ).filter((name) => !silent.has(name) && !TESTED_ELSEWHERE.test(name));
  expect(needless).toEqual([]);
});
