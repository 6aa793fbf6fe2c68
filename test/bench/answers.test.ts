/**
 * A contender is measured only if its answers are valid. Each test has a server whose answers are
 * wrong in one point.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { flawOfCall } from '../../bench/answers.ts';
import { type Contender, direct } from '../../bench/contenders.ts';
import { flawOfMeasurement, type Measurement } from '../../bench/load.ts';
import type { Target } from '../../bench/target.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';

let simulator: RunningSimulator;
let good: Contender;
let answers: Record<'plain' | 'stream', string>;

beforeAll(async () => {
  simulator = await startSimulator();
  good = direct(simulator.url);
  answers = { plain: await textOf(good.target(false)), stream: await textOf(good.target(true)) };
});
afterAll(() => simulator.stop());

async function textOf({ url, headers, body }: Target): Promise<string> {
  return (await fetch(url, { method: 'POST', headers, body })).text();
}

type Answer = (text: string) => Response | Promise<Response>;

/**
 * Starts a server whose answer is the simulator's answer, changed by `answer`. Returns the flaw of
 * that answer.
 */
async function flawOf(kind: 'plain' | 'stream', answer: Answer): Promise<string | undefined> {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => answer(answers[kind]) });
  try {
    const target = { ...good.target(kind === 'stream'), url: server.url.href };
    return await flawOfCall(target, kind === 'stream');
  } finally {
    await server.stop(true);
  }
}

const plain = (text: string, status = 200) =>
  new Response(text, { status, headers: { 'content-type': 'application/json' } });
const events = (text: string, status = 200) =>
  new Response(text, { status, headers: { 'content-type': 'text/event-stream; charset=utf-8' } });

describe('an answer is valid', () => {
  test('if the simulator sends it, and if a server passes it on unchanged', async () => {
    expect(await flawOfCall(good.target(false), false)).toBeUndefined();
    expect(await flawOfCall(good.target(true), true)).toBeUndefined();
    expect(await flawOf('plain', (text) => plain(text))).toBeUndefined();
    expect(await flawOf('stream', (text) => events(text))).toBeUndefined();
  });
});

describe('a plain answer is not valid', () => {
  const edited = (edit: (answer: Record<string, unknown>) => void) => (text: string) => {
    const answer = JSON.parse(text);
    edit(answer);
    return plain(JSON.stringify(answer));
  };

  test.each<[string, Answer, string]>([
    ['with an error status', (text) => plain(text, 500), 'status 500'],
    ['with a redirection', (text) => plain(text, 300), 'status 300'],
    ['with another content type', (text) => new Response(text), 'content type "text/plain'],
    ['as a stream', () => events(answers.stream), 'content type "text/event-stream'],
    ['cut off', (text) => plain(text.slice(0, -20)), 'not JSON'],
    ['as a JSON text', () => plain('"Hello"'), 'not JSON'],
    ['with an error in the body', () => plain('{"error":{"message":"no"}}'), 'no text'],
    ['without a text', edited((answer) => Object.assign(answer, { choices: [{}] })), 'no text'],
    ['without usage', edited((answer) => delete answer['usage']), 'usage says nothing'],
    [
      'with another length',
      edited((answer) => Object.assign(answer, { usage: { completion_tokens: 3 } })),
      'usage says 3',
    ],
    [
      'without a finish_reason',
      edited((answer) => Object.assign(answer, { choices: [{ message: { content: 'Hi' } }] })),
      'no finish_reason',
    ],
  ])('%s', async (_, answer, flaw) => {
    expect(await flawOf('plain', answer)).toContain(flaw);
  });
});

describe('a stream is not valid', () => {
  const without = (part: RegExp) => (text: string) =>
    events(
      text
        .split('\n\n')
        .filter((event) => !part.test(event))
        .join('\n\n'),
    );

  test.each<[string, Answer, string]>([
    ['with an error status', (text) => events(text, 500), 'status 500'],
    ['as a plain answer', () => plain(answers.plain), 'content type "application/json'],
    ['that is empty', () => events(''), 'ends within an event'],
    ['without [DONE]', without(/\[DONE\]/), 'does not end with [DONE]'],
    ['that ends early', (text) => events(text.slice(0, text.length >> 1)), 'ends within an event'],
    ['that ends after half of its events', halved, 'does not end with [DONE]'],
    ['with an event that is not JSON', (text) => events(`data: {"a\n\n${text}`), 'not JSON'],
    ['with an error', (text) => events(`data: {"error":{}}\n\n${text}`), 'holds an error'],
    ['of [DONE] alone', () => events('data: [DONE]\n\n'), 'no text'],
    ['without a finish_reason', without(/"finish_reason":"/), 'no finish_reason'],
    ['without usage', without(/"usage":\{/), 'usage says nothing'],
  ])('%s', async (_, answer, flaw) => {
    expect(await flawOf('stream', answer)).toContain(flaw);
  });

  function halved(text: string): Response {
    const all = text.split('\n\n');
    return events(`${all.slice(0, all.length >> 1).join('\n\n')}\n\n`);
  }

  test('if the connection breaks', async () => {
    const head =
      'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 1000000\r\n\r\n';
    const server = Bun.listen({
      ...{ port: 0, hostname: '127.0.0.1' },
      socket: { data: (socket) => void socket.end(head + answers.stream) },
    });
    const url = `http://127.0.0.1:${server.port}/`;
    const flaw = await flawOfCall({ ...good.target(true), url }, true);
    server.stop(true);
    expect(flaw).toContain('the connection broke');
  });

  test('if no server listens', async () => {
    const url = 'http://127.0.0.1:1/';
    expect(await flawOfCall({ ...good.target(true), url }, true)).toContain('the connection broke');
  });
});

describe('a measurement does not count', () => {
  const valid: Measurement = {
    ...{ requests_per_s: 1, p50_ms: 1, p99_ms: 1, answers: 5, seconds: 5, errors: 0 },
    ...{ read: 5, flaws: [] },
  };

  test.each<[Partial<Measurement>, string]>([
    [{ errors: 1 }, '1 errors and 5 answers under load'],
    [{ flaws: ['the stream has no text'] }, 'the stream has no text'],
    [{ answers: 0, read: 0 }, 'no answer'],
  ])('with %p', (change, flaw) => {
    expect(flawOfMeasurement(valid)).toBeUndefined();
    expect(flawOfMeasurement({ ...valid, ...change })).toContain(flaw);
  });
});
