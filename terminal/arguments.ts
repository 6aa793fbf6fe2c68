import { parseArgs } from 'node:util';
import { durationMs } from './text.ts';

const MACHINES = ['task', 'batch', 'webhook', 'quota', 'channel'];
const DEFAULT_ACTORS = 50;
const DEFAULT_EVENTS = 20;

/** The arguments are wrong. The message says which one. */
export class ArgumentError extends Error {
  override readonly name = 'ArgumentError';
}

/** What both commands take. */
interface Common {
  readonly machine: string | undefined;
  readonly replica: string | undefined;
  readonly json: boolean;
  readonly url: string | undefined;
  readonly token: string | undefined;
  readonly data: string | undefined;
}

/** `bin/weir actors`. */
export interface ActorsCommand extends Common {
  readonly command: 'actors';
  readonly state: string | undefined;
  readonly organization: string | undefined;
  readonly ended: boolean;
  /** Only actors that are in their state for longer, ms. */
  readonly longer_than_ms: number | undefined;
  readonly limit: number;
}

/** `bin/weir actor ID`. */
export interface ActorCommand extends Common {
  readonly command: 'actor';
  readonly id: string;
  readonly events: number;
  readonly follow: boolean;
}

const text = { type: 'string' } as const;
const COMMON = {
  ...{ machine: text, replica: text, url: text, token: text, data: text },
  json: { type: 'boolean' },
} as const;

/** Reads the arguments of `bin/weir`. Throws ArgumentError. */
export function readArguments(args: readonly string[]): ActorsCommand | ActorCommand {
  const [command, ...rest] = args;
  if (command === 'actors') return actorsOf(rest);
  if (command === 'actor') return actorOf(rest);
  throw new ArgumentError(`There is no command ${command ?? ''}. Use actors or actor.`);
}

function actorsOf(args: string[]): ActorsCommand {
  const { values, positionals } = parsed(() =>
    parseArgs({
      args,
      options: {
        ...COMMON,
        ...{ state: text, organization: text, 'longer-than': text, limit: text },
        ended: { type: 'boolean' },
      },
      allowPositionals: true,
    }),
  );
  if (positionals.length > 0) {
    throw new ArgumentError(`actors takes no ${positionals[0]}. Use "bin/weir actor ID" for one.`);
  }
  const { 'longer-than': longer, ended = false, state, organization } = values;
  const longer_than_ms = longer === undefined ? undefined : durationMs(longer);
  if (longer !== undefined && longer_than_ms === undefined) {
    throw new ArgumentError('--longer-than must be a number with a unit, e.g. 90s, 10m, 2h or 1d.');
  }
  if (ended && longer_than_ms !== undefined) {
    throw new ArgumentError('--longer-than and --ended cannot be used together.');
  }
  const limit = wholeNumber('limit', values.limit) ?? DEFAULT_ACTORS;
  return {
    command: 'actors',
    ...common(values),
    state,
    organization,
    ended,
    longer_than_ms,
    limit,
  };
}

function actorOf(args: string[]): ActorCommand {
  const { values, positionals } = parsed(() =>
    parseArgs({
      args,
      options: {
        ...COMMON,
        ...{ events: text, follow: { type: 'boolean', short: 'f' } },
      },
      allowPositionals: true,
    }),
  );
  const [id, ...others] = positionals;
  if (id === undefined || id === '' || others.length > 0) {
    throw new ArgumentError('actor takes one id. "bin/weir actors" lists the ids.');
  }
  const { follow = false } = values;
  const events = wholeNumber('events', values.events) ?? DEFAULT_EVENTS;
  return { command: 'actor', ...common(values), id, events, follow };
}

function parsed<Parsed>(parse: () => Parsed): Parsed {
  try {
    return parse();
  } catch (error) {
    throw new ArgumentError((error as Error).message);
  }
}

function common(values: {
  machine?: string | undefined;
  replica?: string | undefined;
  json?: boolean | undefined;
  url?: string | undefined;
  token?: string | undefined;
  data?: string | undefined;
}): Common {
  const { machine, replica, json = false, url, token, data } = values;
  if (machine !== undefined && !MACHINES.includes(machine)) {
    throw new ArgumentError(`--machine must be one of ${MACHINES.join(', ')}.`);
  }
  return { machine, replica, json, url, token, data };
}

function wholeNumber(name: string, digits: string | undefined): number | undefined {
  if (digits === undefined) return undefined;
  if (/^[1-9]\d{0,6}$/.test(digits)) return Number(digits);
  throw new ArgumentError(`--${name} must be a whole number from 1.`);
}

/** Returns the machine and the rest of an id such as `task/weir_…`; no machine if the id names none. */
export function splitId(id: string): { machine: string | undefined; id: string } {
  const slash = id.indexOf('/');
  const machine = id.slice(0, Math.max(0, slash));
  return MACHINES.includes(machine)
    ? { machine, id: id.slice(slash + 1) }
    : { machine: undefined, id };
}
