import type { CallInFlight } from '../../../api/types.ts';

/** Where a call is, from its key to the ledger. */
export type Bank = 'key' | 'admission' | 'channel' | 'ledger';

/** A box of the river: a key, the admission, a channel with its circuit, or the ledger. */
export interface Dock {
  readonly id: string;
  readonly bank: Bank;
  /** The key or the model of a channel; '' for the admission, the ledger, and the rest of a long list. */
  readonly name: string;
  /** How many things a box stands for that has the rest of a long list. */
  readonly rest: number;
  /** The names of what it stands for. */
  readonly names: readonly string[];
  readonly calls: number;
  readonly usd: number;
  /** The worst state of the circuits in the box. */
  readonly circuit: string | undefined;
  readonly top: number;
  readonly height: number;
}

/** The part of a call's way between two boxes. */
export interface Ribbon {
  readonly call: CallInFlight;
  readonly from: Bank;
  readonly to: Bank;
  readonly from_top: number;
  readonly to_top: number;
  readonly height: number;
  readonly circuit: string | undefined;
}

/** The calls of one instant, laid out: heights are px, and the page gives each bank its place. */
export interface River {
  readonly banks: readonly Bank[];
  readonly docks: readonly Dock[];
  readonly ribbons: readonly Ribbon[];
  readonly height: number;
}

/** All ribbons beside each other are so high, if the money of none is too small to see. */
const FLOW_PX = 260;
/** A call that holds nothing is still seen, and can be clicked. */
const MIN_RIBBON_PX = 4;
/** Four lines of text. */
const MIN_DOCK_PX = 76;
const GAP_PX = 10;
/** The most boxes of a bank. The last one has all others. */
const MAX_DOCKS = 10;

const STATES = ['healthy', 'degraded', 'probing', 'open', 'disabled'];

/** The money by which a call is drawn: what it holds, and in the past what it was charged. */
export const moneyOf = ({ held, charged }: CallInFlight): number => held ?? charged ?? 0;

/** Lays out the calls of one instant. Only operators see channels. */
export function riverOf(calls: readonly CallInFlight[], hasChannels: boolean): River {
  const banks: Bank[] = hasChannels
    ? ['key', 'admission', 'channel', 'ledger']
    : ['key', 'admission', 'ledger'];
  const sum = calls.reduce((total, call) => total + moneyOf(call), 0);
  const heightOf = (call: CallInFlight) =>
    Math.max(MIN_RIBBON_PX, sum === 0 ? 0 : (moneyOf(call) / sum) * FLOW_PX);
  const docks = new Map<Bank, Map<string, Placed>>();
  for (const bank of banks) docks.set(bank, placedDocks(bank, calls, heightOf));
  const ribbons: Ribbon[] = [];
  for (const [index, from] of banks.slice(0, -1).entries()) {
    const to = banks[index + 1];
    if (to === undefined) break;
    const order = sorted(
      calls.filter((call) => hasReached(call, to)),
      docks.get(to),
      to,
    );
    for (const call of order) {
      const [left, right] = [dockOf(docks, from, call), dockOf(docks, to, call)];
      if (!left || !right) continue;
      const height = heightOf(call);
      ribbons.push({
        ...{ call, from, to, height, circuit: to === 'admission' ? undefined : circuitOf(call) },
        ...{ from_top: left.nextOut(height), to_top: right.nextIn(height) },
      });
    }
  }
  const all = [...docks.values()].flatMap((each) => [...new Set(each.values())]);
  const height = Math.max(MIN_DOCK_PX, ...all.map(({ dock }) => dock.top + dock.height));
  return { banks, docks: all.map(({ dock }) => dock), ribbons, height };
}

const circuitOf = ({ circuit }: CallInFlight): string | undefined => circuit ?? undefined;

/** A call is at the channel when it is sent, and flows into the ledger with its answer. */
function hasReached({ stage, channel_id }: CallInFlight, bank: Bank): boolean {
  if (bank === 'key' || bank === 'admission') return true;
  if (bank === 'ledger') return stage === 'answering';
  return (stage === 'calling' || stage === 'answering') && typeof channel_id === 'string';
}

/** True if a call of a river is at a box, or came through it. */
export function isAt({ banks }: River, call: CallInFlight, { bank, names }: Dock): boolean {
  return banks.includes(bank) && hasReached(call, bank) && names.includes(nameAt(call, bank));
}

function nameAt(call: CallInFlight, bank: Bank): string {
  if (bank === 'key') return call.api_key_id;
  return bank === 'channel' ? `${call.channel_id}/${call.logical_model}` : '';
}

/** A box with the places of its next ribbons. */
interface Placed {
  readonly dock: Dock;
  readonly nextIn: (height: number) => number;
  readonly nextOut: (height: number) => number;
}

/** Places the boxes of one bank below each other, those with most money first. By name of what a call is at. */
function placedDocks(
  bank: Bank,
  calls: readonly CallInFlight[],
  heightOf: (call: CallInFlight) => number,
): Map<string, Placed> {
  const groups = new Map<string, CallInFlight[]>();
  if (bank === 'admission' || bank === 'ledger') groups.set('', []);
  for (const call of calls) {
    if (!hasReached(call, bank)) continue;
    const name = nameAt(call, bank);
    groups.set(name, [...(groups.get(name) ?? []), call]);
  }
  const usdOf = (group: readonly CallInFlight[]) =>
    group.reduce((total, call) => total + moneyOf(call), 0);
  const ordered = [...groups].toSorted(
    ([, a], [, b]) => usdOf(b) - usdOf(a) || b.length - a.length,
  );
  const hasRest = ordered.length > MAX_DOCKS;
  const shown = hasRest ? ordered.slice(0, MAX_DOCKS - 1) : ordered;
  const rest = ordered.slice(shown.length);
  const boxes = [
    ...shown.map(([name, group]) => ({ names: [name], name, group })),
    ...(hasRest
      ? [{ names: rest.map(([name]) => name), name: '', group: rest.flatMap(([, group]) => group) }]
      : []),
  ];
  const placed = new Map<string, Placed>();
  let top = 0;
  for (const { names, name, group } of boxes) {
    const flow = group.reduce((total, call) => total + heightOf(call), 0);
    const height = Math.max(MIN_DOCK_PX, flow);
    const circuits = group.map((call) => STATES.indexOf(call.circuit ?? ''));
    const dock: Dock = {
      ...{
        id: `${bank} ${names[0]}`,
        bank,
        name,
        names,
        rest: names.length > 1 ? names.length : 0,
      },
      ...{ calls: group.length, usd: usdOf(group), top, height },
      circuit: bank === 'channel' ? STATES[Math.max(...circuits)] : undefined,
    };
    const from = top + (height - flow) / 2;
    const box = { dock, nextIn: counter(from), nextOut: counter(from) };
    for (const each of names) placed.set(each, box);
    top += height + GAP_PX;
  }
  return placed;
}

/** Returns a function that gives each ribbon the place below the one before. */
function counter(from: number): (height: number) => number {
  let next = from;
  return (height) => {
    const top = next;
    next += height;
    return top;
  };
}

const dockOf = (docks: ReadonlyMap<Bank, Map<string, Placed>>, bank: Bank, call: CallInFlight) =>
  docks.get(bank)?.get(nameAt(call, bank));

/** In the order of the boxes that they reach, and then of their keys, so that few ribbons cross. */
function sorted(
  calls: readonly CallInFlight[],
  reached: ReadonlyMap<string, Placed> | undefined,
  to: Bank,
): CallInFlight[] {
  const topOf = (call: CallInFlight) => reached?.get(nameAt(call, to))?.dock.top ?? 0;
  return calls.toSorted((a, b) => topOf(a) - topOf(b) || a.api_key_id.localeCompare(b.api_key_id));
}
