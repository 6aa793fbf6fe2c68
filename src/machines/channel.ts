import { assign, setup } from 'xstate';

/**
 * The health of one model of one channel on one replica. The machine is a circuit breaker. Its
 * state depends only on its events. Times are milliseconds since the epoch, and the events contain
 * them. Errors of clients are never sent to the machine (P9).
 */
export interface ChannelContext {
  consecutive_failures: number;
  /** The exponentially weighted share of recent successes, 0–1. A new channel starts with 1. */
  recent_success: number;
  /**
   * The number of outcomes since the circuit last closed, counted up to `MIN_SAMPLES`. With fewer
   * outcomes, `recent_success` is not reliable.
   */
  samples: number;
  /** No call is sent before this time. */
  open_until: number;
  /** How often the circuit opened since it was last healthy. Each opening doubles the cooldown. */
  openings: number;
  /** How many calls may run at once during recovery. Null = as many as configured. */
  slots: number | null;
  /** The number of the last probe. The verdict of an older probe is ignored. */
  probe: number;
  /** Why the circuit is open or disabled, worded for the operator. */
  reason: string | null;
  /**
   * True if the channel is disabled because its credentials were refused. After `open_until`, one
   * call tests the credentials again.
   */
  returns: boolean;
}

/** Failure classes that count against a channel. */
export type ChannelFailure = 'auth' | 'timeout' | 'server' | 'malformed' | 'connection';

export type ChannelEvent =
  | { type: 'SUCCEEDED' }
  | { type: 'FAILED'; failure: ChannelFailure; now: number }
  /**
   * The upstream allows no call before `until`. `failure` is set if the cause is not a rate limit.
   */
  | { type: 'THROTTLED'; until: number; failure?: ChannelFailure }
  /**
   * A call needs the open or disabled channel. If the cooldown is over, this call becomes the
   * probe.
   */
  | { type: 'COOLED'; now: number }
  | { type: 'PROBED'; probe: number; verdict: 'succeeded' }
  | { type: 'PROBED'; probe: number; verdict: 'failed'; failure: ChannelFailure; now: number }
  /**
   * The probe neither succeeded nor failed. A probe may be a client's call, and the client left or its
   * request was wrong (P9).
   */
  | { type: 'PROBED'; probe: number; verdict: 'abandoned' }
  /**
   * Weir's own probe succeeded, an operator enabled the channel, or another replica's circuit closed.
   */
  | { type: 'MENDED' }
  | { type: 'DISABLED'; reason: string }
  | { type: 'ENABLED' };

/** After this many failures in a row, the circuit opens. */
export const FAILURES_TO_OPEN = 5;
/** With fewer outcomes than this, a low share of successes does not open the circuit. */
export const MIN_SAMPLES = 20;
/** If the share of recent successes falls below this, the circuit opens. */
const SUCCESS_TO_STAY = 0.5;
/**
 * The first cooldown for each failure. The more a failed attempt costs, the longer the cooldown.
 */
export const COOLDOWNS_MS: Record<ChannelFailure, number> = {
  /** No connection is possible. An attempt fails at once, so trying again soon costs little. */
  connection: 2_000,
  server: 5_000,
  /** Each attempt makes a client wait. */
  timeout: 10_000,
  malformed: 15_000,
  /** An operator must replace the credentials, which takes longer than seconds. */
  auth: 60_000,
};
/**
 * The longest cooldown for each failure, however often the circuit opens. The less a failed attempt
 * costs, the shorter the cooldown.
 */
export const LONGEST_COOLDOWNS_MS: Record<ChannelFailure, number> = {
  connection: 15_000,
  server: 20_000,
  timeout: 60_000,
  malformed: 60_000,
  auth: 60_000,
};
/** At this number of slots, recovery ends and the configured number applies. */
const SLOTS_AFTER_RECOVERY = 64;
/** The weight of the latest outcome in `recent_success`. */
const WEIGHT_OF_ONE = 0.1;
/** Below this `recent_success`, a healthy channel becomes degraded. */
const DEGRADED_BELOW = 0.8;
/** Above this `recent_success`, a degraded channel becomes healthy. */
const HEALTHY_ABOVE = 0.9;
/** `recent_success` after a successful probe, so that the channel gets fewer calls at first. */
const SUCCESS_AFTER_PROBE = 0.5;

/** The changed fields of `context` after one more success or failure. */
const withOutcome = (context: ChannelContext, success: boolean) => ({
  recent_success: context.recent_success * (1 - WEIGHT_OF_ONE) + (success ? WEIGHT_OF_ONE : 0),
  samples: Math.min(MIN_SAMPLES, context.samples + 1),
  consecutive_failures: success ? 0 : context.consecutive_failures + 1,
  slots: slotsAfter(context.slots, success),
});

/**
 * Returns the slots after one more success or failure (slow start). Each success adds one slot, so
 * the slots double with each round of calls. A failure halves the slots. Null = recovery has ended.
 */
function slotsAfter(slots: number | null, success: boolean): number | null {
  if (slots === null) return null;
  if (!success) return Math.max(1, Math.floor(slots / 2));
  return slots >= SLOTS_AFTER_RECOVERY ? null : slots + 1;
}

/** The next cooldown, ms. */
function cooldownMs(failure: ChannelFailure, openings: number): number {
  return Math.min(COOLDOWNS_MS[failure] * 2 ** openings, LONGEST_COOLDOWNS_MS[failure]);
}

export const channelMachine = setup({
  types: { context: {} as ChannelContext, events: {} as ChannelEvent },
  guards: {
    isRefused: ({ event }) => 'failure' in event && event.failure === 'auth',
    trips: ({ context, event }) => {
      if (event.type !== 'FAILED') return false;
      const after = withOutcome(context, false);
      return (
        after.consecutive_failures >= FAILURES_TO_OPEN ||
        (after.samples >= MIN_SAMPLES && after.recent_success < SUCCESS_TO_STAY)
      );
    },
    becomesDegraded: ({ context }) => withOutcome(context, false).recent_success < DEGRADED_BELOW,
    becomesHealthy: ({ context }) => withOutcome(context, true).recent_success > HEALTHY_ABOVE,
    hasCooledDown: ({ context, event }) =>
      event.type === 'COOLED' && event.now >= context.open_until,
    mayProbeCredentials: ({ context, event }) =>
      context.returns && event.type === 'COOLED' && event.now >= context.open_until,
    mayReturn: ({ context }) => context.returns,
    probeSucceeded: ({ context, event }) =>
      event.type === 'PROBED' && event.probe === context.probe && event.verdict === 'succeeded',
    probeFailed: ({ context, event }) =>
      event.type === 'PROBED' && event.probe === context.probe && event.verdict === 'failed',
    probeWasRefused: ({ context, event }) =>
      event.type === 'PROBED' &&
      event.probe === context.probe &&
      event.verdict === 'failed' &&
      event.failure === 'auth',
    refusedProbeWasAbandoned: ({ context, event }) =>
      context.returns &&
      event.type === 'PROBED' &&
      event.probe === context.probe &&
      event.verdict === 'abandoned',
    probeWasAbandoned: ({ context, event }) =>
      event.type === 'PROBED' && event.probe === context.probe && event.verdict === 'abandoned',
  },
  actions: {
    recordSuccess: assign(({ context }) => withOutcome(context, true)),
    recordFailure: assign(({ context }) => withOutcome(context, false)),
    open: assign(({ context, event }) => {
      if (event.type === 'THROTTLED' || !('failure' in event)) return {};
      return {
        // The cooldown never ends before the retry time that the upstream named.
        open_until: Math.max(
          context.open_until,
          event.now + cooldownMs(event.failure, context.openings),
        ),
        openings: context.openings + 1,
        reason: event.failure,
        returns: event.failure === 'auth',
      };
    }),
    backOff: assign(({ context, event }) =>
      event.type === 'THROTTLED'
        ? {
            open_until: Math.max(context.open_until, event.until),
            reason: event.failure ?? 'throttle',
            returns: false,
          }
        : {},
    ),
    startProbe: assign({ probe: ({ context }) => context.probe + 1 }),
    close: assign({
      consecutive_failures: 0,
      recent_success: SUCCESS_AFTER_PROBE,
      samples: 0,
      open_until: 0,
      slots: 1,
      reason: null,
      returns: false,
    }),
    resetOpenings: assign({ openings: 0 }),
    recordReason: assign(({ event }) =>
      event.type === 'DISABLED' ? { reason: event.reason, returns: false } : {},
    ),
  },
}).createMachine({
  id: 'channel',
  context: {
    consecutive_failures: 0,
    recent_success: 1,
    samples: 0,
    open_until: 0,
    openings: 0,
    slots: null,
    probe: 0,
    reason: null,
    returns: false,
  },
  initial: 'healthy',
  on: { DISABLED: { target: '.disabled', actions: 'recordReason' } },
  states: {
    healthy: {
      description: 'The channel serves calls.',
      on: {
        SUCCEEDED: { actions: 'recordSuccess' },
        FAILED: [
          { guard: 'isRefused', target: 'disabled', actions: ['recordFailure', 'open'] },
          { guard: 'trips', target: 'open', actions: ['recordFailure', 'open'] },
          { guard: 'becomesDegraded', target: 'degraded', actions: 'recordFailure' },
          { actions: 'recordFailure' },
        ],
        THROTTLED: { target: 'open', actions: 'backOff' },
      },
    },
    degraded: {
      description: 'The channel serves calls, but fails too often, so it gets fewer calls.',
      on: {
        SUCCEEDED: [
          {
            guard: 'becomesHealthy',
            target: 'healthy',
            actions: ['recordSuccess', 'resetOpenings'],
          },
          { actions: 'recordSuccess' },
        ],
        FAILED: [
          { guard: 'isRefused', target: 'disabled', actions: ['recordFailure', 'open'] },
          { guard: 'trips', target: 'open', actions: ['recordFailure', 'open'] },
          { actions: 'recordFailure' },
        ],
        THROTTLED: { target: 'open', actions: 'backOff' },
      },
    },
    open: {
      description:
        'No call is sent. Outcomes of earlier calls are ignored, except refused credentials and rate limits.',
      on: {
        COOLED: { guard: 'hasCooledDown', target: 'probing', actions: 'startProbe' },
        THROTTLED: { actions: 'backOff' },
        FAILED: { guard: 'isRefused', target: 'disabled', actions: 'open' },
        MENDED: { target: 'degraded', actions: 'close' },
      },
    },
    probing: {
      description: 'One call runs as the probe. Only its verdict or a rate limit ends this state.',
      on: {
        PROBED: [
          { guard: 'probeSucceeded', target: 'degraded', actions: 'close' },
          { guard: 'probeWasRefused', target: 'disabled', actions: ['recordFailure', 'open'] },
          { guard: 'probeFailed', target: 'open', actions: ['recordFailure', 'open'] },
          { guard: 'refusedProbeWasAbandoned', target: 'disabled' },
          { guard: 'probeWasAbandoned', target: 'open' },
        ],
        THROTTLED: { target: 'open', actions: 'backOff' },
      },
    },
    disabled: {
      description:
        'The operator or the configuration disabled the channel, or the upstream refused its credentials.',
      on: {
        COOLED: { guard: 'mayProbeCredentials', target: 'probing', actions: 'startProbe' },
        MENDED: { guard: 'mayReturn', target: 'degraded', actions: 'close' },
        ENABLED: { target: 'degraded', actions: ['close', 'resetOpenings'] },
      },
    },
  },
});
