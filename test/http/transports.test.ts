/** Which HTTP client carries the requests to upstreams: by default, per channel, and with a proxy. */
import { afterAll, afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import type { TransportName } from '../../src/upstreams/contract.ts';
import { startWeir } from '../support/weir.ts';
import { answerOf, startTcpUpstream } from '../upstreams/transport/tcp-upstream.ts';

setDefaultTimeout(120_000);

/** One request that the upstream received. */
interface Received {
  path: string;
  client: TransportName;
  /** True if the request came as to a proxy. */
  is_proxied: boolean;
}

const received: Received[] = [];
const upstream = startTcpUpstream();
upstream.respond = ({ head, socket }) => {
  const [line = '', second = ''] = head.split('\r\n');
  const target = line.split(' ')[1] ?? '';
  const { pathname: path } = new URL(target, upstream.url);
  // Weir's own client writes the host first.
  const client = second.startsWith('Host: ') ? 'own' : 'fetch';
  received.push({ path, client, is_proxied: target.startsWith('http://provider.invalid/') });
  socket.write(answerOf(JSON.stringify(answerTo(path)), 'Content-Type: application/json\r\n'));
};
afterEach(() => {
  received.length = 0;
});
afterAll(() => upstream.stop());

function answerTo(path: string): object {
  if (path.endsWith('/images/generations')) {
    return { created: 1, data: [{ b64_json: btoa('picture') }] };
  }
  if (path.endsWith('/embeddings')) {
    const data = [{ object: 'embedding', index: 0, embedding: [0.5] }];
    return { object: 'list', data, usage: { prompt_tokens: 1, total_tokens: 1 } };
  }
  const choices = [
    { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' },
  ];
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  return { id: 'x', object: 'chat.completion', choices, usage };
}

const MODELS = {
  openai: ['gpt-4o', 'text-embedding-3-small'],
  'openai-images': ['gpt-image-1'],
};
const PATHS = ['/v1/chat/completions', '/v1/embeddings', '/v1/images/generations'];

/** No proxy of the machine that runs the tests. */
const NO_PROXIES = { HTTP_PROXY: '', HTTPS_PROXY: '', http_proxy: '', https_proxy: '' };

/** Makes a chat call, a direct call and a generation, and returns what the upstream received. */
async function callAll(
  env: Record<string, string>,
  channel: { base_url?: string; transport?: TransportName },
): Promise<Received[]> {
  const channels = Object.entries(MODELS).map(([protocol, models]) => ({
    ...{ id: protocol, protocol, base_url: `${upstream.url}/v1`, api_key: 'k' },
    ...{ models: Object.fromEntries(models.map((id) => [id, id])), ...channel },
  }));
  const weir = await startWeir({
    ...{ shared_database: true, config: JSON.stringify({ channels }) },
    env: { ...NO_PROXIES, ...env },
  });
  const post = async (path: string, body: object) => {
    const response = await fetch(weir.base_url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
  };
  await post('/v1/chat/completions', {
    ...{ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }] },
  });
  await post('/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hello' });
  await post('/v1/images/generations', { model: 'gpt-image-1', prompt: 'A lighthouse' });
  await weir.stop();
  return [...received];
}

const allWith = (client: TransportName) =>
  PATHS.map((path) => ({ path, client, is_proxied: false }));

test('Weir’s own client by default', async () => {
  expect(await callAll({}, {})).toEqual(allWith('own'));
});

test('fetch with WEIR_TRANSPORT=fetch', async () => {
  expect(await callAll({ WEIR_TRANSPORT: 'fetch' }, {})).toEqual(allWith('fetch'));
});

test('the client of the channel, if its configuration names one', async () => {
  expect(await callAll({}, { transport: 'fetch' })).toEqual(allWith('fetch'));
  received.length = 0;
  const env = { WEIR_TRANSPORT: 'fetch' };
  expect(await callAll(env, { transport: 'own' })).toEqual(allWith('own'));
});

test('fetch with a proxy, whatever the channel says', async () => {
  const env = { HTTP_PROXY: upstream.url, NO_PROXY: '' };
  const base_url = 'http://provider.invalid/v1';
  const seen = await callAll(env, { base_url, transport: 'own' });
  expect(seen).toEqual(PATHS.map((path) => ({ path, client: 'fetch', is_proxied: true })));
});
