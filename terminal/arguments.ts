import { parseArgs } from 'node:util';
import { durationMs } from './text.ts';

const MACHINES = ['task', 'batch', 'webhook', 'quota', 'channel'];
const DEFAULT_ACTORS = 50;
const DEFAULT_EVENTS = 20;
/** The port and the page that `@statelyai/inspect` expects. */
const DEFAULT_PORT = 8_080;
const STATELY_INSPECTOR = 'https://stately.ai/inspect';
const MAX_PORT = 65_535;

/** The arguments are wrong. The message says which one. */
export class ArgumentError extends Error {
  override readonly name = 'ArgumentError';
}

/** What all commands take. */
interface Common {
  readonly machine: string | undefined;
  readonly url: string | undefined;
  readonly token: string | undefined;
  readonly data: string | undefined;
}

/** What the commands that print actors take. */
interface Printing extends Common {
  readonly replica: string | undefined;
  readonly json: boolean;
}

/** `bin/weir actors`. */
export interface ActorsCommand extends Printing {
  readonly command: 'actors';
  readonly state: string | undefined;
  readonly organization: string | undefined;
  readonly ended: boolean;
  /** Only actors that are longer in their state than is usual for their machine. */
  readonly stuck: boolean;
  /** Only actors that are in their state for longer, ms. */
  readonly longer_than_ms: number | undefined;
  readonly limit: number;
}

/** `bin/weir actor ID`. */
export interface ActorCommand extends Printing {
  readonly command: 'actor';
  readonly id: string;
  readonly events: number;
  readonly follow: boolean;
}

/** `bin/weir inspector`. */
export interface InspectorCommand extends Common {
  readonly command: 'inspector';
  /** Only the actor with this id. */
  readonly id: string | undefined;
  /** 0: a free one. */
  readonly port: number;
  /** The page that is shown in a frame. */
  readonly inspector: URL;
}

const text = { type: 'string' } as const;
const COMMON = { machine: text, url: text, token: text, data: text };
const PRINTING = { ...COMMON, replica: text, json: { type: 'boolean' } } as const;

/** Reads the arguments of `bin/weir`. Throws ArgumentError. */
export function readArguments(
  args: readonly string[],
): ActorsCommand | ActorCommand | InspectorCommand {
  const [command, ...rest] = args;
  if (command === 'actors') return actorsOf(rest);
  if (command === 'actor') return actorOf(rest);
  if (command === 'inspector') return inspectorOf(rest);
  throw new ArgumentError(`There is no command ${command ?? ''}. Use actors, actor or inspector.`);
}

function actorsOf(args: string[]): ActorsCommand {
  const { values, positionals } = parsed(() =>
    parseArgs({
      args,
      options: {
        ...PRINTING,
        ...{ state: text, organization: text, 'longer-than': text, limit: text },
        ...{ ended: { type: 'boolean' }, stuck: { type: 'boolean' } },
      },
      allowPositionals: true,
    }),
  );
  if (positionals.length > 0) {
    throw new ArgumentError(`actors takes no ${positionals[0]}. Use "bin/weir actor ID" for one.`);
  }
  const { 'longer-than': longer, ended = false, stuck = false, state, organization } = values;
  const longer_than_ms = longer === undefined ? undefined : durationMs(longer);
  if (longer !== undefined && longer_than_ms === undefined) {
    throw new ArgumentError('--longer-than must be a number with a unit, e.g. 90s, 10m, 2h or 1d.');
  }
  if (ended && (stuck || longer_than_ms !== undefined)) {
    throw new ArgumentError('--ended cannot be used together with --stuck or --longer-than.');
  }
  const limit = wholeNumber('limit', values.limit) ?? DEFAULT_ACTORS;
  return {
    command: 'actors',
    ...printing(values),
    state,
    organization,
    ended,
    stuck,
    longer_than_ms,
    limit,
  };
}

function actorOf(args: string[]): ActorCommand {
  const { values, positionals } = parsed(() =>
    parseArgs({
      args,
      options: {
        ...PRINTING,
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
  return { command: 'actor', ...printing(values), id, events, follow };
}

function inspectorOf(args: string[]): InspectorCommand {
  const { values } = parsed(() =>
    parseArgs({ args, options: { ...COMMON, id: text, port: text, inspector: text } }),
  );
  const {
    id,
    port: digits = String(DEFAULT_PORT),
    inspector: address = STATELY_INSPECTOR,
  } = values;
  const port = /^\d{1,5}$/.test(digits) ? Number(digits) : MAX_PORT + 1;
  if (port > MAX_PORT) throw new ArgumentError(`--port must be a number from 0 to ${MAX_PORT}.`);
  const inspector = URL.parse(address);
  if (!inspector || !['http:', 'https:'].includes(inspector.protocol)) {
    throw new ArgumentError(
      `--inspector must be the address of a page, e.g. ${STATELY_INSPECTOR}.`,
    );
  }
  return { command: 'inspector', ...common(values), id, port, inspector };
}

function parsed<Parsed>(parse: () => Parsed): Parsed {
  try {
    return parse();
  } catch (error) {
    throw new ArgumentError((error as Error).message);
  }
}

interface CommonValues {
  readonly machine?: string | undefined;
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly data?: string | undefined;
}

function common({ machine, url, token, data }: CommonValues): Common {
  if (machine !== undefined && !MACHINES.includes(machine)) {
    throw new ArgumentError(`--machine must be one of ${MACHINES.join(', ')}.`);
  }
  return { machine, url, token, data };
}

function printing(
  values: CommonValues & {
    readonly replica?: string | undefined;
    readonly json?: boolean | undefined;
  },
): Printing {
  const { replica, json = false } = values;
  return { ...common(values), replica, json };
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
