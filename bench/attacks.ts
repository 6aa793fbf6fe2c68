/** The attacks of `bin/bench neighbours`. */

/** An attack of clients, or of an upstream whose model the attacker calls. */
export interface Attack {
  name: string;
  /** Who attacks. */
  side: 'client' | 'upstream';
  /** What the attacker does, for the table. */
  what: string;
}

const CLIENT_ATTACKS = {
  bodies: '60 bodies of 31 MB at once',
  members: 'bodies of 23 MB with 2,000,000 unknown members',
  bias: 'bodies with 2,000,000 entries in `logit_bias`',
  nesting: 'bodies of 31 MB of open brackets',
  headers: '32 connections that send 5,000 headers each',
  'huge-header': '32 connections that send a header of 1 MB',
  'slow-uploads': '500 connections that send a byte of a 1 MB body each second',
  'silent-readers': '200 clients that read nothing of an endless stream',
  'wrong-keys': '32 connections with wrong keys',
  hosts: '32 connections with malformed `Host` headers',
  'tiny-calls': '32 connections with calls beyond the rate of their key',
} as const;

export const UPSTREAM_ATTACKS = {
  comments: 'comments before the first event of a stream',
  'early-hints': 'interim responses (103) without an end',
  trailers: 'trailers without an end',
  'long-line': 'one event without an end',
  'endless-body': 'a JSON body without an end',
  'single-bytes': 'a stream that arrives byte by byte',
} as const;

export type ClientAttack = keyof typeof CLIENT_ATTACKS;
export type UpstreamAttack = keyof typeof UPSTREAM_ATTACKS;

/** All attacks, in the order of the table. */
export const ATTACKS: readonly Attack[] = [
  ...Object.entries(CLIENT_ATTACKS).map(([name, what]) => attack(name, 'client', what)),
  ...Object.entries(UPSTREAM_ATTACKS).map(([name, what]) => attack(name, 'upstream', what)),
];

/** The model of an endless stream, and a model that never answers. No attack has their names. */
export const ENDLESS_MODEL = 'endless';
export const SILENT_MODEL = 'silent';

function attack(name: string, side: Attack['side'], what: string): Attack {
  return { name, side, what };
}
