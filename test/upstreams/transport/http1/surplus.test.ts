/**
 * Upstreams that send bytes which belong to no request. HTTP/1.1 has no number that connects a
 * response with its request, so such bytes look like the response to the next request.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { sendWithHttp1 } from '../../../../src/upstreams/transport/http1/client.ts';
import {
  CLEAN_REUSES,
  Conduct,
  onSurplusBytes,
  QUIET_MS,
  SUSPENSION_MS,
} from '../../../../src/upstreams/transport/http1/conduct.ts';
import { destinationOf } from '../../../../src/upstreams/transport/http1/pool.ts';
import { fc } from '../../../support/property.ts';
import { until } from '../../../support/until.ts';
import { proveHost, proveUpstream } from '../proven.ts';
import { answerOf, startTcpUpstream, type TcpUpstream } from '../tcp-upstream.ts';
import { post } from './post.ts';

let upstream: TcpUpstream;
let reported: string[] = [];
beforeEach(() => {
  upstream = startTcpUpstream();
  reported = [];
  onSurplusBytes((host) => reported.push(host));
});
afterEach(() => {
  upstream.stop();
  onSurplusBytes(() => undefined);
});

const send = async (body = '{}') => (await post(upstream.url, {}, body).response).text();
const conductOf = () => destinationOf('calls', upstream.url).origin.conduct;
const HEAD = 'HTTP/1.1 200 OK\r\n';

describe('the conduct of a host', () => {
  test('is proven after clean reuses, and starts again after a suspension', () => {
    let now_ms = 1;
    const conduct = new Conduct('host', () => now_ms);
    const reuse = (times: number) => {
      for (let count = 0; count < times; count += 1) conduct.onCleanReuse();
    };
    reuse(CLEAN_REUSES - 1);
    expect(conduct.isProven).toBe(false);
    reuse(1);
    expect([conduct.isProven, conduct.isSuspended]).toEqual([true, false]);
    conduct.onSurplus();
    now_ms += SUSPENSION_MS - 1;
    expect([conduct.isProven, conduct.isSuspended]).toEqual([false, true]);
    now_ms += 1;
    expect([conduct.isProven, conduct.isSuspended]).toEqual([false, false]);
    reuse(CLEAN_REUSES);
    expect(conduct.isProven).toBe(true);
  });

  test('is reported once for each suspension', () => {
    let now_ms = 1;
    const conduct = new Conduct('host', () => now_ms);
    for (let count = 0; count < 5; count += 1) conduct.onSurplus();
    expect(reported).toEqual(['host']);
    now_ms += SUSPENSION_MS;
    conduct.onSurplus();
    expect(reported).toEqual(['host', 'host']);
  });

  test('is the same for calls and for jobs', () => {
    const { origin } = destinationOf('jobs', upstream.url);
    expect(origin.conduct).toBe(conductOf());
  });
});

describe('surplus bytes', () => {
  const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n`;
  test.each([
    ['after a content length', `${answerOf('ok')}x`],
    ['in a second response', answerOf('ok') + answerOf('no')],
    ['after the last chunk', `${CHUNKED}\r\nx`],
    ['after a trailer', `${CHUNKED}Trailer: a\r\n\r\nx`],
    ['after a response that ends the connection', `${answerOf('ok', 'Connection: close\r\n')}x`],
  ])('%s end the reuse of connections to the host', async (_where, text) => {
    await proveUpstream(upstream);
    upstream.respond = ({ socket }) => socket.write(text);
    expect(await send()).toBe('ok');
    expect(conductOf().isSuspended).toBe(true);
    await until('all connections are closed', () => upstream.closed === upstream.opened);
    upstream.respond = ({ socket }) => socket.write(answerOf('fresh'));
    const { opened } = upstream;
    for (let call = 1; call <= 3; call += 1) {
      expect(await send()).toBe('fresh');
      expect(upstream.opened).toBe(opened + call);
    }
    await until('these are closed too', () => upstream.closed === upstream.opened);
    expect(reported).toEqual([new URL(upstream.url).host]);
  });

  test.each([
    ['HEAD', `${HEAD}Content-Length: 2\r\n\r\nok`],
    ['GET', 'HTTP/1.1 204 No Content\r\n\r\nok'],
    ['GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nok'],
    ['GET', `HTTP/1.1 103 Early Hints\r\n\r\n${answerOf('ok')}HTTP/1.1 100 Continue\r\n\r\n`],
  ] as const)(
    'are noticed after a response to %s without a body, and after hints: %s',
    async (method, text) => {
      upstream.respond = ({ socket }) => socket.write(text);
      const common = { headers: {}, pool: 'calls', may_repeat: true } as const;
      await (await sendWithHttp1({ ...common, method, url: upstream.url }).response).text();
      expect(conductOf().isSuspended).toBe(true);
    },
  );

  test('in a call end the reuse of connections of jobs too', async () => {
    await proveUpstream(upstream);
    upstream.respond = ({ socket }) => socket.write(answerOf('ok'));
    const url = `${upstream.url}/jobs/1`;
    const poll = { method: 'GET', url, headers: {}, pool: 'jobs', may_repeat: true } as const;
    for (let count = 0; count < 2; count += 1) await (await sendWithHttp1(poll).response).text();
    upstream.respond = ({ socket }) => socket.write(`${answerOf('ok')}x`);
    await send();
    upstream.respond = ({ socket }) => socket.write(answerOf('ok'));
    const { opened } = upstream;
    await (await sendWithHttp1(poll).response).text();
    expect(upstream.opened).toBe(opened + 1);
  });

  test('on an idle connection close it, also if they come while it is settling', async () => {
    upstream.respond = ({ socket }) => {
      socket.write(answerOf('ok'));
      setTimeout(() => socket.write(answerOf('late')), QUIET_MS / 4);
    };
    expect(await send()).toBe('ok');
    await until('the connection is closed', () => upstream.closed === 1);
    expect(conductOf().isSuspended).toBe(true);
  });

  test('are not the notice that an idle connection timed out', async () => {
    await proveUpstream(upstream);
    upstream.respond = ({ socket }) => {
      socket.write(answerOf('ok'));
      setTimeout(() => socket.end('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n'), 5);
    };
    const { closed } = upstream;
    expect(await send()).toBe('ok');
    await until('the connection is closed', () => upstream.closed === closed + 1);
    expect([conductOf().isProven, reported]).toEqual([true, []]);
  });

  test('in place of a response: the request is sent again over a new connection', async () => {
    await proveUpstream(upstream);
    upstream.respond = ({ socket }) => {
      const isFirst = upstream.received.length === 1;
      socket.write(isFirst ? 'rest of a body\r\n\r\n' : answerOf('fresh'));
    };
    expect(await send('1')).toBe('fresh');
    expect(upstream.received.map(({ body }) => body)).toEqual(['1', '1']);
    expect(conductOf().isSuspended).toBe(true);
  });
});

test('a response to a half-sent request on a reused connection is not used', async () => {
  const BIG = 32_000_000;
  const refused = new Set<unknown>();
  const early = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket, bytes) {
        if (!bytes.includes(`Content-Length: ${BIG}`)) {
          if (!refused.has(socket)) socket.write(answerOf('ok'));
          return;
        }
        refused.add(socket);
        socket.pause();
        socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno');
      },
    },
  });
  const url = `http://127.0.0.1:${early.port}/`;
  await proveHost(url);
  const response = await post(url, {}, 'x'.repeat(BIG)).response;
  expect([response.status, await response.text()]).toEqual([413, 'no']);
  expect(refused.size).toBe(2);
  early.stop(true);
});

/** Texts that a hostile upstream sends too much. `id` is the call that it belongs to. */
const SURPLUS: Record<string, (id: number) => string> = {
  response: (id) => answerOf(`{${id}}`, `X-Id: ${id}\r\n`),
  chunks: (id) => `${HEAD}X-Id: ${id}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n!\r\n0\r\n\r\n`,
  'half a head': (id) => `${HEAD}X-Id: ${id}\r\nContent-`,
  'half a body': (id) => `${HEAD}X-Id: ${id}\r\nContent-Length: 40\r\n\r\n{${id}}`,
  hints: (id) => `HTTP/1.1 103 Early Hints\r\nX-Id: ${id}\r\n\r\n`,
  'an empty line': () => '\r\n',
  'no HTTP': (id) => `${id}\r\n\r\n`,
};
/** What may come before a response without changing the response. */
const HINTS = SURPLUS['hints'] as (id: number) => string;

interface Plan {
  method: 'POST' | 'GET' | 'HEAD';
  isChunked: boolean;
  /** Time until the response, ms. */
  latency_ms: number;
  hasHints: boolean;
  surplus: string | null;
  /** null: in one packet with the response. Otherwise so many ms after it. */
  after_ms: number | null;
  /** When a call that is not in the first burst starts, ms. */
  start_ms: number;
}

const planOf = (surplus: fc.Arbitrary<string | null>): fc.Arbitrary<Plan> =>
  fc.record({
    method: fc.constantFrom('POST', 'GET', 'HEAD'),
    isChunked: fc.boolean(),
    latency_ms: fc.nat(40),
    hasHints: fc.boolean(),
    surplus,
    after_ms: fc.option(fc.nat(50)),
    start_ms: fc.nat(QUIET_MS),
  });
const anySurplus = fc.constantFrom(...Object.keys(SURPLUS));

function play(plans: readonly Plan[]): TcpUpstream['respond'] {
  return ({ head, socket }) => {
    const id = Number(/^\w+ \/(\d+)/.exec(head)?.[1]);
    const plan = plans[id];
    if (!plan) return;
    const surplus = plan.surplus === null ? '' : (SURPLUS[plan.surplus]?.(id) ?? '');
    const body = `[${id}]`;
    const whole = plan.isChunked
      ? `${HEAD}X-Id: ${id}\r\nTransfer-Encoding: chunked\r\n\r\n${body.length}\r\n${body}\r\n0\r\nA: b\r\n\r\n`
      : answerOf(body, `X-Id: ${id}\r\n`);
    const response = plan.method === 'HEAD' ? whole.slice(0, whole.indexOf('\r\n\r\n') + 4) : whole;
    setTimeout(() => {
      if (plan.hasHints) socket.write(HINTS(id));
      socket.write(plan.after_ms === null ? response + surplus : response);
      if (plan.after_ms !== null) setTimeout(() => socket.write(surplus), plan.after_ms);
    }, plan.latency_ms);
  };
}

async function call(url: string, id: number, { method }: Plan): Promise<string> {
  const response = await sendWithHttp1({
    ...{ method, url: `${url}/${id}`, headers: {}, pool: 'calls', may_repeat: true },
    ...(method === 'POST' ? { body: { content: '{}', content_type: 'application/json' } } : {}),
  }).response;
  return `${response.headers.get('x-id')} ${await response.text()}`;
}

test('no call gets the bytes of another one, and none is lost, whatever a host sends too much', async () => {
  // A host that behaves for a while is proven. So at most that many calls follow the burst.
  const large = fc.array(planOf(fc.oneof(fc.constant(null), anySurplus)), { maxLength: 30 });
  // Without a large burst, a follower is more often under way when the surplus arrives.
  const burst = fc.oneof(large, fc.constant<Plan[]>([]));
  const hostile = planOf(anySurplus);
  const followers = fc.array(planOf(fc.constant(null)), {
    minLength: 1,
    maxLength: CLEAN_REUSES - 1,
  });
  await fc.assert(
    fc.asyncProperty(burst, hostile, followers, async (some, one, later) => {
      const plans = [...some, one, ...later];
      const host = startTcpUpstream();
      host.respond = play(plans);
      const answers = await Promise.all(
        plans.map(async (plan, id) => {
          if (id > some.length) await Bun.sleep(plan.start_ms);
          return call(host.url, id, plan);
        }),
      );
      host.stop();
      expect(answers).toEqual(
        plans.map(({ method }, id) => `${id} ${method === 'HEAD' ? '' : `[${id}]`}`),
      );
    }),
    { numRuns: 30 },
  );
});

test('a call that follows quickly does not get a late surplus response', async () => {
  const plan: Plan = {
    ...{ method: 'POST', isChunked: false, latency_ms: 0, hasHints: false, start_ms: 0 },
    ...{ surplus: 'response', after_ms: 30 },
  };
  const plans = [plan, { ...plan, latency_ms: 60, surplus: null }];
  upstream.respond = play(plans);
  expect(await call(upstream.url, 0, plan)).toBe('0 [0]');
  expect(await call(upstream.url, 1, plan)).toBe('1 [1]');
});
