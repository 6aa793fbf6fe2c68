import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { WeirError } from '../../src/errors/weir-error.ts';
import {
  MAX_INFERENCE_BODY_BYTES,
  MAX_MANAGEMENT_BODY_BYTES,
  readJsonBytes,
} from '../../src/http/body.ts';
import { readForm } from '../../src/http/form.ts';
import { checkJsonShape } from '../../src/http/json-shape.ts';
import { BodyBudget, BytesInFlight } from '../../src/upstreams/transport/body-budget.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { errorOf, nativeErrorOf } from '../support/envelope.ts';
import { failureOf } from '../support/failure-of.ts';
import { countKept } from '../support/kept.ts';
import { fc } from '../support/property.ts';

/** A busy machine may need longer than the default of 5 s. */
setDefaultTimeout(60_000);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const JSON_TYPE = { 'content-type': 'application/json' };
const NATIVE = { ...JSON_TYPE, 'anthropic-version': '2023-06-01' };

type Body = string | Uint8Array<ArrayBuffer> | ReadableStream;

interface Target {
  name: string;
  limit: number;
  send(body: Body | undefined, headers?: Record<string, string>): Promise<Response>;
  errorOf: typeof errorOf;
}

const inference = (path: string, usual: Record<string, string>, check: typeof errorOf): Target => ({
  name: `POST ${path}`,
  limit: MAX_INFERENCE_BODY_BYTES,
  send: (body, headers = usual) => app.fetch(path, { method: 'POST', headers, body: body ?? null }),
  errorOf: check,
});
const management = (method: string, path: string): Target => ({
  name: `${method} ${path}`,
  limit: MAX_MANAGEMENT_BODY_BYTES,
  send: (body, headers = JSON_TYPE) =>
    app.fetch(path, {
      method,
      headers: { ...headers, authorization: `Bearer ${app.credentials.management_token}` },
      body: body ?? null,
    }),
  errorOf,
});

const TARGETS: Target[] = [
  inference('/v1/chat/completions', JSON_TYPE, errorOf),
  inference('/v1/messages', NATIVE, nativeErrorOf),
  management('POST', '/v1/management/api-keys'),
  management('PATCH', '/v1/management/api-keys/key_1'),
];

/** Sends the bytes in chunks, without a content length. */
function chunked(bytes: number, piece = new Uint8Array(64 * 1024).fill(32)): ReadableStream {
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      if (sent >= bytes) return controller.close();
      controller.enqueue(piece.subarray(0, Math.min(piece.length, bytes - sent)));
      sent += piece.length;
    },
  });
}

describe.each(TARGETS)('the body of $name', (target) => {
  const refused = async (
    status: number,
    param: string,
    body: Body | undefined,
    headers?: Record<string, string>,
  ) => {
    const error = await target.errorOf(await target.send(body, headers), status);
    expect(error.param).toBe(param);
    return error;
  };

  test.each(['text/plain', 'application/jsonl', 'multipart/form-data; boundary=x', 'json'])(
    '415: content type %s',
    async (type) => {
      await refused(415, 'Content-Type', '{}', { ...NATIVE, 'content-type': type });
    },
  );

  test('415: no content type', async () => {
    const bytes = new TextEncoder().encode('{}');
    await refused(415, 'Content-Type', bytes, { 'anthropic-version': '2023-06-01' });
  });

  test('415: compressed with an unknown coding', async () => {
    const compressed = Bun.gzipSync(new TextEncoder().encode('{}'));
    await refused(415, 'Content-Encoding', compressed, { ...NATIVE, 'content-encoding': 'lzma' });
  });

  test.each(['application/json; charset=utf-8', 'Application/JSON', 'application/vnd.api+json'])(
    'content type %s is JSON',
    async (type) => {
      const response = await target.send('[]', { ...NATIVE, 'content-type': type });
      expect((await target.errorOf(response, 400)).param).toBe('body');
    },
  );

  test.each([
    ['empty', ''],
    ['cut short', '{"model": "gpt'],
    ['with a trailing comma', '{"a":1,}'],
    ['with NaN', '{"temperature": NaN}'],
    ['with Infinity', '{"temperature": -Infinity}'],
    ['with a comment', '{} // hi'],
    ['with single quotes', "{'a': 1}"],
    ['with a bare control character', '{"a": "\u0001"}'],
    ['with two documents', '{}{}'],
    ['an array', '[]'],
    ['a string', '"{}"'],
    ['null', 'null'],
    ['a number', '1e9'],
  ])('400: %s', async (_what, text) => {
    const error = await refused(400, 'body', text);
    // The position of the error differs between parsers. Without the text the position is useless.
    expect(error.message).toMatch(/^The body (is not valid JSON|must be a JSON object)\.$/);
  });

  test.each([
    ['a lone continuation byte', [0x7b, 0x22, 0x80, 0x22, 0x7d]],
    ['an overlong form', [0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x7d]],
    ['a surrogate', [0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d]],
    ['Latin-1', [0x7b, 0x22, 0xe9, 0x22, 0x7d]],
    ['UTF-16', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
  ])('400: invalid UTF-8: %s', async (_what, bytes) => {
    const error = await refused(400, 'body', Uint8Array.from(bytes));
    expect(error.message).toBe('The body is not valid UTF-8.');
  });

  test.each([
    ['arrays', '['],
    ['objects', '{"a":'],
    ['both', '{"a":['],
  ])('400: a body full of nested %s', async (_what, opening) => {
    // The largest body of the route: a recursive parser would overflow its stack.
    const depth = Math.floor(Math.min(10_000_000, target.limit - 1) / opening.length);
    const error = await refused(400, 'body', opening.repeat(depth));
    expect(error.message).toBe('The body is nested too deeply.');
  });

  test('400: an object with too many members', async () => {
    // The names repeat, because a body of the management routes is too small for longer names.
    const object = (members: number) => `{${Array(members).fill('"":0').join()}}`;
    const error = await refused(400, 'body', object(10_001));
    expect(error.message).toBe('The body has more than 10,000 members in one object.');
    const allowed = await target.errorOf(await target.send(object(10_000)), 400);
    expect(allowed.param).not.toBe('body');
  });

  test('brackets inside strings do not count as nesting', async () => {
    const text = JSON.stringify({ unknown_field: '[{\\"'.repeat(500) });
    const error = await target.errorOf(await target.send(text), 400);
    expect(error.param).not.toBe('body');
  });

  test('413: a content length above the limit is refused before the body is sent', async () => {
    const error = await refused(413, 'body', new Uint8Array(target.limit + 1).fill(32));
    expect(error).toMatchObject({ code: 'payload_too_large' });
    expect(error.message).toMatch(/32 MB|64 kB/);
  });

  test('413: a chunked body above the limit', async () => {
    const error = await refused(413, 'body', chunked(target.limit + 100_000));
    expect(error.code).toBe('payload_too_large');
  });

  test('413: a body that would fill the memory', async () => {
    await refused(413, 'body', chunked(20 * target.limit));
  });

  test('a body of exactly the limit is read', async () => {
    const text = '{"nonsense":1}';
    const padding = ' '.repeat(target.limit - text.length);
    const error = await target.errorOf(await target.send(text + padding), 400);
    expect(error.param).not.toBe('body');
  });

  test('names of the prototype are ordinary members, and change no prototype', async () => {
    const text = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    await target.errorOf(await target.send(text), 400);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('a body that does not arrive', () => {
  type Read = (request: Request, counted: BytesInFlight, timeout_ms: number) => Promise<unknown>;
  const readJson: Read = (request, counted, timeout_ms) =>
    readJsonBytes(request, counted, 1_000_000, request.signal, timeout_ms);
  const tooLarge = () => new WeirError('payload_too_large', 'The form is too large.');
  const readAnyForm: Read = (request, counted, timeout_ms) =>
    readForm(request, {
      ...{ max_bytes: 1_000_000, tooLarge, counted, signal: request.signal, timeout_ms },
    });

  /** Returns the result of a server with this timeout, for a body with this content length. */
  async function waited(
    how: Read,
    timeout_ms: number,
    length?: number,
  ): Promise<{ failure: unknown; counted_bytes: number }> {
    const read = Promise.withResolvers<unknown>();
    const budget = new BodyBudget(8_000_000);
    const server = Bun.serve({
      ...{ port: 0, hostname: '127.0.0.1' },
      fetch(request) {
        const counted = new BytesInFlight(budget).of('key');
        how(request, counted, timeout_ms)
          .finally(() => counted.end())
          .then(read.resolve, read.reject);
        return read.promise.then(
          () => new Response(),
          () => new Response(),
        );
      },
    });
    const socket = await Bun.connect({
      ...{ hostname: '127.0.0.1', port: Number(server.port) },
      socket: { data: () => undefined },
    });
    const coding =
      length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
    const first_bytes = length === undefined ? '5\r\n{"a":\r\n' : '{"a":';
    socket.write(
      `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${coding}\r\n\r\n`,
    );
    socket.write(first_bytes);
    const failure = await failureOf(read.promise).finally(() => socket.terminate());
    await server.stop(true);
    return { failure, counted_bytes: budget.bytes };
  }

  test.each([
    ['JSON whose length is known', readJson, 100],
    ['large JSON whose length is known', readJson, 100_000],
    ['JSON in chunks', readJson, undefined],
    ['a form whose length is known', readAnyForm, 100],
    ['a large form whose length is known', readAnyForm, 100_000],
    ['a form in chunks', readAnyForm, undefined],
  ])('%s is refused after the timeout', async (_, how, length) => {
    const { failure, counted_bytes } = await waited(how, 50, length);
    expect(failure).toMatchObject({
      id: 'invalid_json',
      message: 'The body did not arrive in time.',
    });
    expect(counted_bytes).toBe(0);
  });
});

describe('the shape of a JSON body', () => {
  const errorFor = (text: string) => {
    try {
      checkJsonShape(text);
    } catch (error) {
      return error instanceof WeirError ? `${error.id}: ${error.message}` : String(error);
    }
    return undefined;
  };
  const members = (count: number) =>
    Array.from({ length: count }, (_, at) => `"${at.toString(36)}":{"x":[]}`).join();
  const TOO_MANY_MEMBERS = 'invalid_json: The body has more than 10,000 members in one object.';

  test.each([
    ['at the top', (inner: string) => `{${inner}}`],
    ['in an object', (inner: string) => `{"a":1,"b":{${inner}}}`],
    ['in a list, after another object', (inner: string) => `{"a":[{"b":[1]},{${inner}}]}`],
  ])('each object has its own count of members: %s', (_where, within) => {
    expect(errorFor(within(members(10_001)))).toBe(TOO_MANY_MEMBERS);
    expect(errorFor(within(members(10_000)))).toBeUndefined();
  });

  test('a body has a count of values', () => {
    const list = (commas: number) => `{"a":[[0${',0'.repeat(commas - 1)}],0]}`;
    expect(errorFor(list(1_000_001))).toBe(
      'invalid_json: The body has more than 1,000,000 values.',
    );
    expect(errorFor(list(1_000_000))).toBeUndefined();
  });

  test('colons, commas and brackets inside strings do not count', () => {
    const text = JSON.stringify({ text: '":,[{\\"'.repeat(1_000_001) });
    expect(errorFor(text)).toBeUndefined();
  });

  test('the depth is that of the value (generated)', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 120, max: 130 }), (value, levels) => {
        const text = '['.repeat(levels) + JSON.stringify(value) + ']'.repeat(levels);
        const isTooDeep = levels + depthOf(value) > 128;
        expect(errorFor(text)).toBe(
          isTooDeep ? 'invalid_json: The body is nested too deeply.' : undefined,
        );
      }),
    );
  });
});

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test('a body that has arrived keeps its client no longer in memory', async () => {
  const read = (held: object) => {
    const body = new ReadableStream({
      async start(stream) {
        await Bun.sleep(0);
        stream.enqueue(new TextEncoder().encode('{}'));
        stream.close();
      },
    });
    const headers = { ...JSON_TYPE, 'content-length': '2' };
    const request = new Request('http://localhost/', { method: 'POST', headers, body });
    const signal = { aborted: false, reason: undefined, ...{ held } };
    const counted = new BytesInFlight(new BodyBudget(1_000)).of('key');
    return readJsonBytes(request, counted, 1_000, signal).finally(() => counted.end());
  };
  // The collector takes some old words on the stack for references.
  expect(await countKept(read)).toBeLessThan(20);
});
