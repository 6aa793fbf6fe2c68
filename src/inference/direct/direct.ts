import type { CallDetail } from '../../../db/records/record.ts';
import type { ChannelPermit } from '../../actors/channels/channel.ts';
import type { Channels } from '../../actors/channels/channels.ts';
import type { OwnServing } from '../../actors/channels/own-keys.ts';
import type { ListenableSignal } from '../../actors/money/admission-queue.ts';
import type { Quotas } from '../../actors/money/quotas.ts';
import type { Reservation, Settlement } from '../../actors/money/reservation.ts';
import type { DirectModel } from '../../catalogue/catalogue.ts';
import { type DirectUsage, directCharge } from '../../catalogue/direct-price.ts';
import { chargeWith } from '../../catalogue/own-key-fee.ts';
import type { ChannelProtocol } from '../../protocols/names.ts';
import { MAX_REPORTED_TOKENS, type UsageReport } from '../../protocols/token-usage.ts';
import {
  type CallSignal,
  type ChannelConfig,
  targetOf,
  type UpstreamCall,
} from '../../upstreams/contract.ts';
import type { BytesInFlight } from '../../upstreams/transport/body-budget.ts';
import type { AnswerCache } from '../cache/answer-cache.ts';
import {
  answerFromCache,
  type CachedCall,
  type DirectCache,
  type DirectFollower,
  followDirect,
  openDirectCache,
} from '../cache/cached-direct.ts';
import { type Flight, failureOf, type UnpaidAnswer } from '../cache/flight.ts';
import type { Flights } from '../cache/flights.ts';
import { joinFlights } from '../cache/join-flights.ts';
import type { KeptAnswer } from '../cache/kept-answer.ts';
import { handOverIfAbandoned, ledAnswer } from '../cache/led-answer.ts';
import type { Caller } from '../call.ts';
import { noteImpossibleUsage } from '../impossible-usage.ts';
import type { CallLimits } from '../limits/call-limits.ts';
import { reserveLimited } from '../limits/limited-reservation.ts';
import type { CallRecord } from '../records/call-record.ts';
import { withFailover } from '../routing/route.ts';
import { noteBudgets, noteReserved } from '../soft/move.ts';
import { directChannels, mostOfDirect } from './before-admission.ts';

/** The `scene` of the usage line of each operation (spec: Management, `scene`). */
const SCENES: Record<DirectModel['operation'], string> = {
  embedding: 'embedding',
  stt: 'audio',
  tts: 'audio',
  rerank: 'rerank',
  translation: 'translation',
};

/** Dependencies of direct calls. */
export interface DirectDeps {
  quotas: Quotas;
  channels: Channels;
  now: () => number;
  random: () => number;
  /** The answers that may be sent again. */
  cache?: AnswerCache;
  /** The limits of keys. Without it, no key has any. */
  limits?: CallLimits;
  /** Receives errors that the operator must see in the log. Must not throw. */
  onError: (error: unknown, request_id: string) => void;
}

/** A direct call. `request` sends it in the protocol of the chosen channel. */
export interface DirectCall<Protocol, Opened> {
  readonly request_id: string;
  readonly key: Caller;
  readonly model: DirectModel;
  readonly body: Readonly<Record<string, unknown>>;
  readonly body_text: string;
  /** Aborted when the client leaves, or when its deadline passes (see `ClientDeadline`). */
  readonly signal: ListenableSignal;
  /** Counts the bytes of the answer. */
  readonly bytes: BytesInFlight;
  /** Notes how the call goes. */
  readonly record?: CallRecord | undefined;
  /** Set if the answer may come from the cache, and be kept there. */
  readonly cached?: DirectCache | undefined;
  /** The own keys that serve the call. Without it, the platform's channels do. */
  readonly own?: OwnServing | undefined;
  /** True if a soft limit may move the call: then it throws `MoveDue` before it takes anything. */
  readonly may_move?: boolean;
  /** The most units that the call can use; the reservation covers them. */
  readonly max_units: DirectUsage;
  readonly protocols: Partial<Record<ChannelProtocol, Protocol>>;
  readonly request: (protocol: Protocol, call: UpstreamCall) => Promise<Opened>;
}

/** An answer of an upstream with its usage. */
export interface DirectAnswer<Answer> {
  readonly answer: Answer;
  readonly usage: DirectUsage;
  /** True if the upstream reported no usage, or impossible usage. Then Weir counted itself. */
  readonly estimated: boolean;
  /** True if the upstream reported impossible usage (see `UsageReport`). */
  readonly has_impossible_usage?: boolean;
  /** What the operator pays, nano-USD, if the upstream told it. */
  readonly paid_nano_usd?: number | undefined;
}

/** Returns the members of a `DirectAnswer` that tell whether its usage was reported. */
export function estimateOf(
  report: UsageReport<number>,
): Pick<DirectAnswer<unknown>, 'estimated' | 'has_impossible_usage'> {
  const isImpossible = report === 'impossible';
  return { estimated: report === null || isImpossible, has_impossible_usage: isImpossible };
}

/**
 * Runs a direct call that is not streamed: reserve → route → call → settle. Resolves when the
 * charge is committed (P4). Throws WeirError, or the signal's reason if the client left. If it
 * throws, nothing is charged. `flights` has the direct calls that run.
 */
export async function runDirect<Protocol, Answer>(
  deps: DirectDeps,
  call: DirectCall<Protocol, DirectAnswer<Answer>>,
  flights: Flights<DirectFollower>,
): Promise<Answer> {
  const reservation = await reserveDirect(deps, call);
  let flight: Flight<DirectFollower> | undefined;
  let isAnswered = false;
  try {
    const lookup = openDirectCache(deps.cache, call);
    if (lookup) {
      const scene = SCENES[call.model.operation];
      const found = await answerFromCache(call, scene, lookup, reservation, flights);
      if (found) return found.answer as Answer;
      const leader = lookup.mayBeShared ? call : undefined;
      const joined = await joinFlights(flights, lookup, leader, (running) =>
        followDirect(running, { call, reservation }, scene, lookup),
      );
      if (joined.answer) return joined.answer.answer as Answer;
      flight = joined.flight;
    }
    const requested = requestDirect(deps, flight ? { ...call, signal: flight } : call);
    const served = await (flight ? ledAnswer(requested, flight, unpaidOf) : requested);
    if (flight) handOverIfAbandoned(served, flight, unpaidOf);
    isAnswered = true;
    const { opened, permit } = served;
    permit.succeeded();
    if (opened.has_impossible_usage) noteImpossibleUsage(permit, deps, call.request_id);
    const { charged, overrun } = await settleAnswer(call, reservation, served);
    if (lookup) {
      const kept = keptOf(opened.answer, charged + overrun);
      lookup.keep(kept);
      flight?.finish({ state: 'answered', kept, rest: '' });
    }
    return opened.answer;
  } catch (error) {
    // After a charge, `release` has no effect.
    reservation.release();
    if (flight && !flight.goesOn) flight.finish(failureOf(call, isAnswered, error));
    throw error;
  }
}

function keptOf(answer: unknown, cost_nano_usd: number): KeptAnswer {
  return { text: JSON.stringify(answer), is_stream: false, usage: null, cost_nano_usd };
}

type Requested = Omit<OpenDirect<DirectAnswer<unknown>>, 'reservation'>;

/** Returns an answer that another call must pay. */
function unpaidOf(served: Requested): UnpaidAnswer<DirectFollower> {
  return {
    ...{ text: JSON.stringify(served.opened.answer), usage: null, is_fit: true },
    pay: ({ call, reservation }) => settleAnswer(call, reservation, served),
  };
}

/** Charges a whole answer; resolves when the charge is committed. */
function settleAnswer(
  call: CachedCall,
  reservation: Reservation,
  { opened, permit }: Requested,
): Promise<Settlement> {
  const { usage, estimated, paid_nano_usd } = opened;
  const result = { outcome: 'completed' as const, estimated, paid_nano_usd };
  return settleDirect(call, permit, reservation, usage, result);
}

/**
 * A direct call whose upstream has answered, or has begun to answer. The holder of this object must
 * end the permit (the right to use a slot of the channel) and the reservation.
 */
export interface OpenDirect<Opened> {
  readonly opened: Opened;
  readonly permit: ChannelPermit;
  readonly reservation: Reservation;
}

/**
 * Opens a direct call: reserve → route → call. Throws like `runDirect`. If it throws, it has ended
 * the permit and the reservation.
 */
export async function openDirect<Protocol, Opened>(
  deps: DirectDeps,
  call: DirectCall<Protocol, Opened>,
): Promise<OpenDirect<Opened>> {
  const reservation = await reserveDirect(deps, call);
  try {
    return { ...(await requestDirect(deps, call)), reservation };
  } catch (error) {
    reservation.release();
    throw error;
  }
}

/** Reserves the most that a direct call may cost. */
async function reserveDirect(
  deps: DirectDeps,
  call: Omit<DirectCall<never, unknown>, 'request' | 'protocols'>,
): Promise<Reservation> {
  const { model, key } = call;
  const amount = mostOfDirect(call);
  call.record?.resolve(model, SCENES[model.operation]);
  const { request_id: call_id, may_move = false, record } = call;
  const quota = deps.quotas.getOrCreate(key, record?.tags);
  if (may_move) noteBudgets(quota.spentBudgets, may_move, undefined);
  const request = { amount, minimum: () => amount, signal: call.signal, call_id };
  // Only chat is counted in tokens: the most of another call is not known.
  const limited = { key, model_id: model.id, call_id, is_concurrent: true, tokens: () => 0 };
  const taking = deps.limits?.take({ ...limited, may_move });
  const tryReserve = () => quota.tryReserve(amount, call_id);
  const reserve = () => quota.reserve(request);
  const reservation = taking
    ? await reserveLimited(taking, record, { tryReserve, reserve })
    : (tryReserve() ?? (await reserve()));
  record?.reserve(reservation.amount);
  return noteReserved(reservation, may_move, record);
}

/** Sends a direct call to the first channel that serves it. */
async function requestDirect<Protocol, Opened>(
  deps: DirectDeps,
  call: Omit<DirectCall<Protocol, Opened>, 'signal'> & { readonly signal: CallSignal },
): Promise<Omit<OpenDirect<Opened>, 'reservation'>> {
  const { model, protocols, signal, record } = call;
  const serving = call.own?.channels ?? deps.channels.serving(model.id);
  const channels = directChannels(serving, protocols);
  const { policy } = model.declaration.routing ?? {};
  const options = { now: deps.now, random: deps.random, policy, signal, record };
  const { result: opened, permit } = await withFailover(channels, options, (acquired) => {
    const { config } = acquired.channel;
    return call.request(protocols[config.protocol] as Protocol, upstreamCall(call, config));
  });
  return { opened, permit };
}

/** Returns the units that are no tokens, and what the operator pays. */
function detailOf(
  { seconds, characters, requests }: DirectUsage,
  paid_nano_usd: number | undefined,
): CallDetail | undefined {
  const units = { seconds, characters, requests };
  const known = Object.entries(units).filter(([, count]) => count !== undefined);
  if (known.length === 0 && paid_nano_usd === undefined) return undefined;
  return {
    ...(known.length > 0 ? { units: Object.fromEntries(known) as Record<string, number> } : {}),
    ...(paid_nano_usd === undefined ? {} : { paid_nano_usd }),
  };
}

/** Charges a direct call; resolves when the charge is committed. */
export async function settleDirect(
  { model, key, request_id, record }: Pick<CachedCall, 'model' | 'key' | 'request_id' | 'record'>,
  permit: ChannelPermit,
  reservation: Reservation,
  usage: DirectUsage,
  {
    paid_nano_usd,
    ...result
  }: {
    outcome: 'completed' | 'partial';
    estimated: boolean;
    paid_nano_usd?: number | undefined;
  },
): Promise<Settlement> {
  const { id: channel_id, fee_ppm } = permit.channel.config;
  const list = directCharge(model.price, usage);
  const { access, amount, counted } = chargeWith(fee_ppm, list, key.cap_counts);
  const line = {
    id: request_id,
    request_id,
    organization_id: key.organization_id,
    key_id: key.id,
    scene: SCENES[model.operation],
    ...access,
    model: model.id,
    model_vendor: model.owned_by,
    channel_id,
    ...result,
    input_tokens: usage.input_tokens ?? 0,
    output_tokens: usage.output_tokens ?? 0,
    ...{ cached_input_tokens: 0, cache_write_tokens: 0 },
    record: record?.facts(detailOf(usage, paid_nano_usd)),
  };
  const settlement = await reservation.settle(line, amount, counted);
  if (record) record.isCharged = true;
  return settlement;
}

function upstreamCall(
  call: Pick<
    DirectCall<unknown, unknown>,
    'request_id' | 'model' | 'body' | 'body_text' | 'bytes'
  > & { readonly signal: CallSignal },
  config: ChannelConfig,
): UpstreamCall {
  return {
    target: targetOf(config),
    physical_model: config.models[call.model.id] ?? call.model.id,
    public_model: call.model.id,
    answer_id: call.request_id,
    body_text: call.body_text,
    body: call.body,
    // A direct call returns one answer. `max_units` limits its usage.
    mostAnswers: () => 1,
    model_context_window: MAX_REPORTED_TOKENS,
    model_max_output_tokens: call.model.max_output_tokens,
    headers: {},
    signal: call.signal,
    bytes: call.bytes,
  };
}
