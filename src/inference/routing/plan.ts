import type { ChannelActor, NoPermit, PermitUse } from '../../actors/channels/channel.ts';
import type { CatalogueModel } from '../../catalogue/catalogue.ts';
import { isOwnChannel } from '../../config/own-key-rows.ts';
import type { WeirError } from '../../errors/weir-error.ts';
import { MAX_CHANNELS_PER_ROUND } from '../../machines/task-events.ts';
import type { ChannelConfig } from '../../upstreams/contract.ts';
import { Candidates } from './candidates.ts';
import { orderKeyOf } from './order.ts';
import { MAX_ATTEMPTS, noChannelError } from './route.ts';

/**
 * Draws the most probable order: of two channels with the same priority, the one with the higher
 * weight comes first.
 */
export const MOST_PROBABLE = () => 0.5;

/** A channel that the call would be sent to, if those before it failed. */
export interface PlannedChannel {
  readonly channel: ChannelActor;
  /** The chance that it is the first one, 0–1. */
  readonly first_share: number;
  /** True if it is tried only because no other channel is left. */
  readonly is_last_resort: boolean;
}

/**
 * Why a channel is not tried. `not_served`: it does not have the model. `cannot_express`: its protocol
 * cannot send the request. `own_keys_only`: the organization wants the model on own keys only.
 * `other_account`: only another channel has what the request continues.
 * `enough_attempts`: a call is tried on so many channels and no more.
 */
type SkipReason =
  | NoPermit
  | 'not_served'
  | 'cannot_express'
  | 'own_keys_only'
  | 'other_account'
  | 'enough_attempts'
  | 'refused';

/** A channel that the call would not be sent to. */
interface SkippedChannel {
  readonly channel_id: string;
  readonly reason: SkipReason;
  /** The operator's reason, or why the circuit is open. */
  readonly cause: string | null;
  /** Before this time the channel takes no call, ms since the Unix epoch; undefined = unknown. */
  readonly until_ms: number | undefined;
  /** What the client would read if this were its only channel. */
  readonly error: WeirError | undefined;
}

/** Where a call would go. */
export interface RoutePlan {
  readonly model: CatalogueModel;
  /** What is set aside for the call: the most that it may cost its key, nano-USD. */
  readonly most_nano_usd: number;
  readonly tried: readonly PlannedChannel[];
  readonly skipped: readonly SkippedChannel[];
  /** What the client would get now; undefined if a channel takes the call. */
  readonly refusal: WeirError | undefined;
}

/** The channels that a plan is about. */
export interface PlannedOver {
  /** Every channel, once. */
  readonly all: readonly { readonly config: Pick<ChannelConfig, 'id'> }[];
  /** The actors of those that have a model. */
  readonly serving: (model: string) => readonly ChannelActor[];
}

/** What a kind of call found out about its channels, by the code that routes it. */
export interface PlanParts {
  readonly model: CatalogueModel;
  readonly most_nano_usd: number;
  readonly use: Exclude<PermitUse, 'probe'>;
  /** The channels that can serve the request, in the order in which they are tried. */
  readonly ordered: readonly ChannelActor[];
  /** The channels that cannot, each with its error if it has one. */
  readonly unable: ReadonlyMap<ChannelActor, WeirError | null>;
  /** The only channel that may serve the request; null = any. */
  readonly pinned: string | null;
  /** True if no channel of the platform may serve the request. */
  readonly own_only: boolean;
  /** The error if the request is refused whatever state the channels have. */
  readonly refusal: WeirError | undefined;
}

/** Returns the plan of a call. It asks each channel what the call would ask it, and takes no slot. */
export function planRoute(channels: PlannedOver, parts: PlanParts, now_ms: number): RoutePlan {
  const { model, most_nano_usd, use, ordered, refusal } = parts;
  const chosen = refusal ? [] : planAttempts(ordered, use);
  const shares = firstShares(ordered, model, use);
  const tried = chosen.map(({ channel, is_last_resort }) => {
    return { channel, is_last_resort, first_share: shares.get(channel) ?? 0 };
  });
  const taken = new Set(tried.map(({ channel }) => channel.config.id));
  const others = channels.all.filter(({ config }) => !taken.has(config.id));
  const serving = new Map(channels.serving(model.id).map((actor) => [actor.config.id, actor]));
  const isWaiting = use === 'job' && ordered.length > 0;
  return {
    ...{ model, most_nano_usd, tried },
    skipped: others.map(({ config: { id } }) => skip(id, serving.get(id), parts)),
    refusal:
      refusal ??
      // A job without a channel waits for one.
      (tried.length > 0 || isWaiting ? undefined : noChannelError(ordered, [], now_ms)),
  };
}

/**
 * Returns the plan of a call that runs on the platform's channels if no own key of its organization serves
 * it. The two runs have attempts of their own.
 */
export function plannedInTurn(own: RoutePlan, platform: RoutePlan): RoutePlan {
  const isOwn = own.tried.length > 0;
  const later = isOwn
    ? platform.tried.map((each) => ({ ...each, first_share: 0 }))
    : platform.tried;
  return {
    model: own.model,
    most_nano_usd: Math.max(own.most_nano_usd, platform.most_nano_usd),
    tried: [...own.tried, ...later],
    skipped: [...own.skipped, ...platform.skipped],
    refusal: isOwn ? undefined : platform.refusal,
  };
}

/** Returns the channels of all attempts, in the order in which they are tried. */
function planAttempts(ordered: readonly ChannelActor[], use: PlanParts['use']) {
  const max = use === 'job' ? MAX_CHANNELS_PER_ROUND : MAX_ATTEMPTS;
  const candidates = new Candidates([...ordered]);
  const attempts: { readonly channel: ChannelActor; readonly is_last_resort: boolean }[] = [];
  while (attempts.length < max) {
    const attempt = candidates.next((channel, urgent) =>
      channel.whyNoPermit(use, urgent) === undefined ? { channel, is_last_resort: urgent } : null,
    );
    if (!attempt) break;
    attempts.push(attempt);
  }
  return attempts;
}

/** Returns the chance of each channel that it is tried first, 0–1, as their order is drawn. */
function firstShares(
  ordered: readonly ChannelActor[],
  { declaration }: CatalogueModel,
  use: PlanParts['use'],
): ReadonlyMap<ChannelActor, number> {
  const isOwn = ({ config }: ChannelActor) => isOwnChannel(config.id);
  const ready = ordered.filter((channel) => channel.whyNoPermit(use, false) === undefined);
  const [first] = ready.length > 0 ? ready : planAttempts(ordered, use).map((each) => each.channel);
  if (!first) return new Map();
  // A job tries all own keys before the platform's channels, so the two are ordered apart.
  const rivals = ordered.filter((channel) => isOwn(channel) === isOwn(first));
  const keyOf = orderKeyOf(rivals, declaration.routing?.policy);
  const { tiers, weight } = keyOf(first);
  if (weight === 0 || ready.length === 0) return new Map([[first, 1]]);
  const equals = ready.filter((channel) => {
    if (!rivals.includes(channel)) return false;
    const key = keyOf(channel);
    return key.tiers[0] === tiers[0] && key.tiers[1] === tiers[1];
  });
  const sum = equals.reduce((total, channel) => total + keyOf(channel).weight, 0);
  return new Map(equals.map((channel) => [channel, keyOf(channel).weight / sum]));
}

/** Returns why a channel is not tried. `actor` is undefined if the channel does not have the model. */
function skip(
  channel_id: string,
  actor: ChannelActor | undefined,
  { unable, pinned, own_only, refusal, use }: PlanParts,
): SkippedChannel {
  const without = { cause: null, until_ms: undefined, error: undefined };
  if (!actor) return { channel_id, reason: 'not_served', ...without };
  if (own_only && !isOwnChannel(channel_id)) {
    return { channel_id, reason: 'own_keys_only', ...without };
  }
  const error = unable.get(actor);
  if (error !== undefined) {
    return { channel_id, reason: 'cannot_express', ...without, error: error ?? undefined };
  }
  if (pinned !== null && pinned !== channel_id) {
    return { channel_id, reason: 'other_account', ...without };
  }
  if (refusal) return { channel_id, reason: 'refused', ...without };
  const closed = actor.whyNoPermit(use, true);
  if (closed === undefined) return { channel_id, reason: 'enough_attempts', ...without };
  const until = actor.availableAt();
  const until_ms = closed !== 'no_free_slot' && Number.isFinite(until) ? until : undefined;
  return { channel_id, reason: closed, ...without, cause: causeOf(actor), until_ms };
}

function causeOf({ snapshot }: ChannelActor): string | null {
  return snapshot.context.reason;
}
