/**
 * Upstreams that require signed calls: Bedrock and Vertex AI. The simulator checks the signatures.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { frameOf } from '../../../simulator/bedrock/frames.ts';
import { bedrockProtocol } from '../../../src/upstreams/chat/bedrock.ts';
import { vertexProtocol } from '../../../src/upstreams/chat/vertex.ts';
import { RetryableUpstreamError, TerminalUpstreamError } from '../../../src/upstreams/contract.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { answerOf, startTcpUpstream } from '../transport/tcp-upstream.ts';
import { callOf, readStream, startUpstream, streamed } from '../upstream.ts';

setDefaultTimeout(60_000);

let simulator: RunningSimulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.stop());

function target(base_url: string, api_key: string, timeout_ms = 20_000) {
  return { target: { channel_id: 'main', base_url, api_key, timeout_ms } };
}

/** Returns the failure of a call. If the call does not fail, returns an error that says so. */
async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  );
}

describe('Bedrock', () => {
  const question = (content = 'Hello [[sim tokens=7]]', more: object = {}) => ({
    ...{ model: 'gpt-test', max_tokens: 100, messages: [{ role: 'user', content }] },
    ...more,
  });
  const call = (key: string, body = question(), more: object = {}) =>
    callOf('', body, { ...target(`${simulator.url}/bedrock`, key), ...more });
  const PAIR = 'sim-main:sim-secret';

  test('receives a valid AWS signature for every model name', async () => {
    for (const physical_model of ['haiku', 'eu.anthropic.claude-haiku-4-5-20251001-v1:0']) {
      const answer = await bedrockProtocol.complete(call(PAIR, question(), { physical_model }));
      expect(answer.usage?.output_tokens).toBe(7);
      expect(JSON.parse(answer.body_text)).toMatchObject({ model: 'gpt-test', role: 'assistant' });
    }
    const { calls } = await simulator.books();
    expect(calls.at(-1)).toMatchObject({
      account: 'main',
      protocol: 'bedrock',
      model: expect.stringContaining('v1:0') as never,
    });
  });

  test('receives each header once', async () => {
    const upstream = startTcpUpstream();
    upstream.respond = ({ socket }) => socket.write(answerOf('{}'));
    await failureOf(bedrockProtocol.complete(callOf('', question(), target(upstream.url, PAIR))));
    upstream.stop();
    const [, ...lines] = upstream.received[0]?.head.split('\r\n') ?? [];
    const names = lines.map((line) => line.split(':')[0]?.toLowerCase());
    expect(names).toContain('x-amz-date');
    expect(names).toContain('content-type');
    expect(new Set(names).size).toBe(names.length);
  });

  test('streams in AWS frames, and its metrics stay inside Weir', async () => {
    const body = question('Hello [[sim tokens=9]]', { stream: true });
    const read = await readStream(bedrockProtocol, call(PAIR, body));
    expect(read.error).toBeUndefined();
    expect(read.stream.usage()?.output_tokens).toBe(9);
    expect(read.text).toStartWith('event: message_start\n');
    expect(read.text).toEndWith('event: message_stop\ndata: {"type":"message_stop"}\n\n');
    expect(read.text).not.toContain('bedrock');
  });

  test('accepts an API key too, and receives betas in the body', async () => {
    const headers = { 'anthropic-beta': 'context-1m-2025-08-07, files-api-2025-04-14' };
    const answer = await bedrockProtocol.complete(call('sim-main', question(), { headers }));
    expect(answer.usage?.output_tokens).toBe(7);
  });

  test.each(['sim-main:another-secret', 'nobody:sim-secret', 'nobody'])(
    'with the wrong key %s is the operator’s failure',
    async (key) => {
      const failure = await failureOf(bedrockProtocol.complete(call(key)));
      expect(failure).toBeInstanceOf(RetryableUpstreamError);
      expect(failure).toMatchObject({ failure: 'auth' });
    },
  );

  test('a wrong request and too many requests are classified as for other upstreams', async () => {
    const long = call(PAIR, question('Hello [[sim context_tokens=1]]'));
    expect(await failureOf(bedrockProtocol.complete(long))).toBeInstanceOf(TerminalUpstreamError);
    const busy = call(PAIR, question('Hello [[sim status=429 retry_after=3]]'));
    expect(await failureOf(bedrockProtocol.complete(busy))).toMatchObject({
      ...{ failure: 'throttle', retry_after_ms: 3_000 },
    });
  });

  test('fails on a broken stream: an exception, a bad frame, half a frame', async () => {
    const upstream = startUpstream();
    const start = frameOf(
      { 'message-type': 'event', 'event-type': 'chunk' },
      {
        bytes: btoa(
          JSON.stringify({ type: 'message_start', message: { usage: { input_tokens: 1 } } }),
        ),
      },
    );
    const exception = frameOf(
      { 'message-type': 'exception', 'exception-type': 'modelStreamErrorException' },
      { message: 'canary broke' },
    );
    const wrong = start.slice();
    wrong[20] = (wrong[20] ?? 0) ^ 1;
    for (const bad of [
      exception,
      wrong,
      start.slice(0, 30),
      Uint8Array.of(0xff, 0xff, 0xff, 0xff),
    ]) {
      upstream.answer = () => streamed([start, bad]);
      const body = question('Hello', { stream: true });
      const read = await readStream(bedrockProtocol, callOf(upstream.url, body));
      expect(read.error).toBeInstanceOf(RetryableUpstreamError);
      expect(read.text).not.toContain('canary');
    }
    await upstream.stop();
  });
});

describe('Vertex AI', () => {
  const body = { contents: [{ role: 'user', parts: [{ text: 'Hello [[sim tokens=6]]' }] }] };
  const base = () => `${simulator.url}/vertex/v1/projects/p/locations/l/publishers/google`;
  const call = (key: string, base_url = base()) => callOf('', body, target(base_url, key));

  async function serviceAccount(account: string): Promise<Record<string, string>> {
    const url = `${simulator.url}/vertex/service-account?account=${account}`;
    return (await fetch(url)).json() as Promise<Record<string, string>>;
  }

  test('receives a token that a service account signed, fetched once for many calls', async () => {
    const key = JSON.stringify(await serviceAccount('signer'));
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => vertexProtocol.complete(call(key))),
    );
    for (const { usage } of answers) expect(usage?.output_tokens).toBe(6);
    const { calls } = await simulator.books({ account: 'signer' });
    expect(calls).toHaveLength(20);
    const other = JSON.stringify(await serviceAccount('another'));
    const read = await readStream(vertexProtocol, call(other));
    expect(read.stream.usage()?.output_tokens).toBe(6);
  });

  test('accepts an access token unchanged', async () => {
    expect((await vertexProtocol.complete(call('sim-main'))).usage?.output_tokens).toBe(6);
  });

  test('fails as the operator’s failure if the key is unusable, and the next call fetches a token again', async () => {
    const right = await serviceAccount('late');
    const stranger = await serviceAccount('stranger');
    const wrongs = [
      '{"client_email":"x"}',
      '{broken',
      JSON.stringify({ ...stranger, token_uri: `${simulator.url}/vertex/nowhere` }),
      JSON.stringify({ ...stranger, private_key: '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END' }),
      'ya29.unknown',
    ];
    for (const key of wrongs) {
      expect(await failureOf(vertexProtocol.complete(call(key)))).toMatchObject({
        failure: 'auth',
      });
    }
    const answer = await vertexProtocol.complete(call(JSON.stringify(right)));
    expect(answer.usage?.output_tokens).toBe(6);
  });

  test('bounds the wait for a token', async () => {
    const silent = Bun.serve({ port: 0, fetch: () => new Promise<Response>(() => undefined) });
    const account = await serviceAccount('silent');
    const key = JSON.stringify({ ...account, token_uri: `http://127.0.0.1:${silent.port}/token` });
    const waiting = callOf('', body, target(base(), key, 300));
    expect(await failureOf(vertexProtocol.complete(waiting))).toMatchObject({ failure: 'timeout' });
    await silent.stop(true);
  });
});
