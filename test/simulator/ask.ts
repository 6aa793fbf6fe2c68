/**
 * Raw calls to the simulator, because SDKs hide parts of the protocol.
 */
import { connect } from 'node:net';
import type { RunningSimulator } from '../support/simulator.ts';

export type Json = Record<string, unknown>;

/** The account of most tests. */
export const ACCOUNT = 'main';

export function user(text: string): Json[] {
  return [{ role: 'user', content: text }];
}

/** POST /chat/completions with a model, messages and the given members. */
export function chat(
  simulator: RunningSimulator,
  body: Json,
  account = ACCOUNT,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${simulator.openai_url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer sim-${account}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o', ...body }),
    ...(signal ? { signal } : {}),
  });
}

/** POST /v1/messages with a model, `max_tokens` and the given members. */
export function message(
  simulator: RunningSimulator,
  body: Json,
  account = ACCOUNT,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${simulator.anthropic_url}/v1/messages`, {
    method: 'POST',
    headers: {
      'x-api-key': `sim-${account}`,
      'anthropic-version': '2023-06-01',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'claude-sonnet-5', max_tokens: 1000, ...body }),
    ...(signal ? { signal } : {}),
  });
}

/** The data of all events of a complete stream; `[DONE]` stays text. */
export function eventsIn(text: string): Json[] {
  return text
    .split('\n\n')
    .flatMap((event) => /^data: (.+)$/m.exec(event)?.[1] ?? [])
    .map((data) => (data === '[DONE]' ? { done: true } : JSON.parse(data)));
}

/** The member at a path, such as `choices.0.message.content`. */
export function at(value: unknown, path: string): unknown {
  let found = value;
  for (const key of path.split('.')) found = (found as Json | undefined)?.[key];
  return found;
}

export interface RawAnswer {
  /** The bytes of head and body, chunk sizes included. */
  text: string;
  /** False if the connection was reset. */
  clean: boolean;
}

/**
 * A chat over a plain socket, so that a test can distinguish a reset from a clean end. The request closes the
 * connection after the answer.
 */
export function rawChat(simulator: RunningSimulator, body: Json): Promise<RawAnswer> {
  const payload = JSON.stringify({ model: 'gpt-4o', ...body });
  const head = [
    'POST /openai/v1/chat/completions HTTP/1.1',
    'host: simulator',
    `authorization: Bearer sim-${ACCOUNT}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(payload)}`,
    'connection: close',
  ];
  return new Promise((resolve) => {
    let text = '';
    let clean = true;
    const socket = connect(Number(new URL(simulator.url).port), '127.0.0.1');
    socket.on('data', (bytes) => {
      text += bytes.toString();
    });
    socket.on('error', () => {
      clean = false;
    });
    socket.on('close', () => resolve({ text, clean }));
    socket.write(`${head.join('\r\n')}\r\n\r\n${payload}`);
  });
}
