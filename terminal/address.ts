import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ArgumentError } from './arguments.ts';

const DEFAULT_URL = 'http://localhost:3000';
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** Where Weir is, and the token that is sent to it. */
export interface Address {
  readonly url: URL;
  readonly token: string;
}

interface FirstRun {
  readonly base_url?: string;
  readonly operator_token?: string;
}

/** Returns the address and the token of the arguments, the environment or `first-run.json`. Throws ArgumentError. */
export function findAddress(given: {
  readonly url: string | undefined;
  readonly token: string | undefined;
  readonly data: string | undefined;
}): Address {
  const firstRun = readFirstRun(given.data ?? (process.env.WEIR_DATA || './data'));
  const text = given.url ?? (process.env.WEIR_URL || firstRun.base_url || DEFAULT_URL);
  const url = URL.parse(text);
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw new ArgumentError(`${text} is no address of Weir. Use e.g. ${DEFAULT_URL}.`);
  }
  const own = given.token ?? process.env.WEIR_TOKEN;
  if (own) return { url, token: own };
  // The token of this machine's Weir must not reach another server.
  const isOwnWeir = LOOPBACK.includes(url.hostname) || url.origin === originOf(firstRun.base_url);
  if (firstRun.operator_token && isOwnWeir) return { url, token: firstRun.operator_token };
  throw new ArgumentError('A token is missing. Set WEIR_TOKEN to an op- or mt- token.');
}

function originOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : URL.parse(url)?.origin;
}

/** Returns the credentials that the first start wrote; nothing if there is no such file. */
function readFirstRun(data: string): FirstRun {
  try {
    return JSON.parse(readFileSync(join(data, 'first-run.json'), 'utf8')) as FirstRun;
  } catch {
    return {};
  }
}
