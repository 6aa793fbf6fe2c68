/**
 * What a submission and a query mean when the provider fails: does a job exist? The cases are the
 * same for both HTTP clients.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  RetryableUpstreamError,
  TerminalUpstreamError,
  TRANSPORTS,
} from '../../../src/upstreams/contract.ts';
import {
  type GenerationCall,
  LostSubmissionError,
} from '../../../src/upstreams/generation/contract.ts';
import { queryJob, submitJob } from '../../../src/upstreams/generation/exchange.ts';
import { MAX_ERROR_BYTES } from '../../../src/upstreams/transport/bounded-body.ts';
import { failureOf } from '../../support/failure-of.ts';
import { until } from '../../support/until.ts';
import { proveUpstream } from '../transport/proven.ts';
import { answerOf, startTcpUpstream, type TcpUpstream } from '../transport/tcp-upstream.ts';

let upstream: TcpUpstream;
beforeEach(() => {
  upstream = startTcpUpstream();
});
afterEach(() => upstream.stop());

const refusal = (status: number, body = '{"message":"no"}') =>
  `HTTP/1.1 ${status} Refused\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

describe.each(TRANSPORTS)('jobs through the HTTP client %s', (transport) => {
  const callWith = (
    timeout_ms = 20_000,
    signal = new AbortController().signal,
  ): GenerationCall => ({
    target: {
      ...{ channel_id: 'c', base_url: `${upstream.url}/v1`, api_key: 'k', timeout_ms, transport },
    },
    ...{ physical_model: 'p', public_model: 'm', idempotency_key: 'i', signal },
    input: { scene: 'music', action: 'MUSIC', prompt: 'a' },
  });
  const submit = (call = callWith()) =>
    submitJob(call, { path: '/jobs', headers: {}, body: { a: 1 } });
  const query = (call = callWith(), path = '/jobs/1') => queryJob(call, { path, headers: {} });
  const respond = (text: string) => {
    upstream.respond = ({ socket }) => socket.write(text);
  };

  test('a submission and a query return the parsed answer', async () => {
    respond(answerOf('{"id":"7"}', 'X-Name: é\r\n'));
    expect(await submit()).toMatchObject({ status: 200, body: { id: '7' } });
    const answer = await query(callWith(), `${upstream.url}/elsewhere?a=b`);
    expect(answer.body).toEqual({ id: '7' });
    expect(Buffer.from(answer.bytes).toString()).toBe('{"id":"7"}');
    expect(upstream.received.map(({ head }) => head.split('\r\n')[0])).toEqual([
      'POST /v1/jobs HTTP/1.1',
      'GET /elsewhere?a=b HTTP/1.1',
    ]);
  });

  test('without a connection, no job exists', async () => {
    upstream.stop();
    const error = await failureOf(submit());
    expect(error).toBeInstanceOf(RetryableUpstreamError);
    expect(error).toMatchObject({ failure: 'connection' });
    expect(await failureOf(query())).toMatchObject({ failure: 'connection' });
  });

  test('a refusal means that no job exists, also with a very long body', async () => {
    for (const status of [404, 405, 429, 503, 529, 401]) {
      respond(refusal(status));
      expect(await failureOf(submit())).toBeInstanceOf(RetryableUpstreamError);
    }
    // The form of OpenAI's errors (OpenAI docs: Error codes).
    respond(refusal(400, '{"error":{"message":"no","type":"invalid_request_error"}}'));
    expect(await failureOf(submit())).toBeInstanceOf(TerminalUpstreamError);
    for (const body of ['{"message":"no"}', 'x'.repeat(2 * MAX_ERROR_BYTES)]) {
      respond(refusal(400, body));
      expect(await failureOf(submit())).toMatchObject({ failure: 'unclear', status: 400 });
    }
  });

  test('a job may exist if the response is lost, breaks off, comes too late or is an error', async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"id"';
    const failures: [respond: typeof upstream.respond, timeout_ms?: number][] = [
      [({ socket }) => socket.terminate()],
      [({ socket }) => void socket.end(head)],
      [() => undefined, 150],
      [({ socket }) => void socket.write(head), 150],
      [({ socket }) => void socket.write(refusal(500))],
      [({ socket }) => void socket.write(refusal(504))],
      [({ socket }) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\n{}')],
    ];
    for (const [fail, timeout_ms] of failures) {
      upstream.respond = fail;
      expect(await failureOf(submit(callWith(timeout_ms)))).toBeInstanceOf(LostSubmissionError);
    }
    // Each submission was sent exactly once.
    expect(upstream.received).toHaveLength(failures.length);
  });

  test('a submission is not sent over a connection that the provider is closing', async () => {
    await proveUpstream(upstream);
    respond(answerOf('{}'));
    await query();
    const { opened } = upstream;
    upstream.respond = ({ socket, connection }) => {
      if (connection < opened) socket.end();
      else socket.write(answerOf('{"id":"7"}'));
    };
    expect(await submit()).toMatchObject({ body: { id: '7' } });
    expect(upstream.received).toHaveLength(2);
  });

  test('a query fails with its reason', async () => {
    expect(await failureOf(query(callWith(150)))).toMatchObject({ failure: 'timeout' });
    upstream.respond = ({ socket }) => socket.terminate();
    expect(await failureOf(query())).toMatchObject({ failure: 'connection' });
    respond(refusal(401));
    expect(await failureOf(query())).toMatchObject({ failure: 'auth', status: 401 });
  });

  test('an aborted call throws its reason and closes the connection', async () => {
    const left = new Error('left');
    for (const send of [submit, query]) {
      const client = new AbortController();
      upstream.respond = () => client.abort(left);
      expect(await failureOf(send(callWith(20_000, client.signal)))).toBe(left);
    }
    await until('the connections are closed', () => upstream.closed === upstream.opened);
  });

  test('the key is never sent to a foreign host', async () => {
    const foreign = 'http://provider.invalid/jobs/1';
    expect(await failureOf(query(callWith(), foreign))).toMatchObject({ failure: 'connection' });
    expect(upstream.opened).toBe(0);
  });
});
