/** What the attacker of each attack does. */
import {
  type ClientAttack,
  ENDLESS_MODEL,
  SILENT_MODEL,
  UPSTREAM_ATTACKS,
  type UpstreamAttack,
} from './attacks.ts';
import { headOf, open, type RawRequest, repeat, send, type Victim } from './raw-client.ts';

type AttackStart = (victim: Victim) => void;

const MB = 1024 * 1024;
const MEMBERS = 2_000_000;
/** Lanes of a flood of small requests, and of calls to a hostile upstream. */
const FLOOD_LANES = 32;
const SLOW_UPLOADS = 500;
const SILENT_READERS = 200;
/** Connections are opened in groups, so that the listener's queue does not overflow. */
const OPENED_AT_ONCE = 50;

const hello = (model: string, stream = false) =>
  JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hello' }] });
/** A body of this size, whose user's text is long. Its call gets no answer. */
const longBody = (bytes: number): string[] => {
  const piece = 'x'.repeat(MB);
  const pieces = Array.from({ length: Math.floor(bytes / MB) - 1 }, () => piece);
  const start = `{"model":"${SILENT_MODEL}","messages":[{"role":"user","content":"`;
  return [start, ...pieces, '"}]}'];
};
const entries = (count: number, entry: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => entry(at)).join();

/** Sends the same body on some lanes. The body is built once. */
const withBody =
  (lanes: number, build: () => (string | Uint8Array)[]): AttackStart =>
  ({ port, api_key: key }) => {
    const body = build();
    repeat(lanes, () => send(port, { key, body }));
  };

const withRequest =
  (request: (victim: Victim, lane: number) => RawRequest): AttackStart =>
  (victim) =>
    repeat(FLOOD_LANES, (lane) => send(victim.port, request(victim, lane)));

const OF_CLIENTS: Record<ClientAttack, AttackStart> = {
  bodies: withBody(60, () => longBody(31 * MB)),
  members: withBody(1, () => [
    Buffer.from(`{"model":"x",${entries(MEMBERS, (at) => `"m${at}":0`)}}`),
  ]),
  bias: withBody(1, () => {
    const bias = entries(MEMBERS, (at) => `"${at}":1`);
    return [Buffer.from(`${hello('x').slice(0, -1)},"logit_bias":{${bias}}}`)];
  }),
  nesting: withBody(2, () => [Buffer.alloc(31 * MB, '[')]),
  headers: withRequest(({ api_key: key }) => ({
    ...{ key, body: [hello('x')] },
    headers: Array.from({ length: 5_000 }, (_, at) => `X-${at}: ${at}\r\n`).join(''),
  })),
  'huge-header': withRequest(({ api_key: key }) => ({
    ...{ key, body: [hello('x')], headers: `X-Long: ${'x'.repeat(MB)}\r\n` },
  })),
  'slow-uploads': async ({ port, api_key: key }) => {
    const head = headOf({ key, body: [], length: MB });
    const sockets = await openMany(port, SLOW_UPLOADS, head);
    setInterval(() => {
      for (const socket of sockets) if (!socket.destroyed) socket.write(' ');
    }, 1_000);
  },
  'silent-readers': async ({ port, api_key: key }) => {
    const body = hello(ENDLESS_MODEL, true);
    for (const socket of await openMany(port, SILENT_READERS, headOf({ key, body: [body] }) + body))
      socket.pause();
  },
  'wrong-keys': withRequest((_, lane) => ({
    key: `sk-wrong-${lane}-${Math.random()}`,
    body: [hello('x')],
  })),
  hosts: withRequest(({ api_key: key }) => ({ key, host: '[::', body: [hello('x')] })),
  'tiny-calls': withRequest(({ limited_key: key }) => ({ key, body: [hello('x')] })),
};

/** Calls the model of a hostile upstream. */
const callModel =
  (model: UpstreamAttack): AttackStart =>
  ({ port, api_key: key }) => {
    const body = [hello(model, model !== 'endless-body' && model !== 'trailers')];
    repeat(FLOOD_LANES, () => send(port, { key, body }));
  };

/** Returns what the attacker does. Throws if there is no such attack. */
export function attackOf(name: string): AttackStart {
  if (Object.hasOwn(OF_CLIENTS, name)) return OF_CLIENTS[name as ClientAttack];
  if (Object.hasOwn(UPSTREAM_ATTACKS, name)) return callModel(name as UpstreamAttack);
  throw new Error(`there is no attack ${name}`);
}

async function openMany(port: number, count: number, text: string) {
  const sockets = [];
  for (let at = 0; at < count; at += OPENED_AT_ONCE) {
    const group = Array.from({ length: Math.min(OPENED_AT_ONCE, count - at) }, () => open(port));
    for (const socket of await Promise.all(group)) {
      socket.on('error', () => undefined);
      socket.write(text);
      sockets.push(socket);
    }
  }
  return sockets;
}
