import { assign, setup } from 'xstate';

/**
 * The health of one upstream channel on one replica (design 3): a circuit breaker whose verdicts
 * are a pure function of what was reported. Times are milliseconds and come inside the events.
 * Failures of the client's making never reach it (P9).
 */
export interface ChannelContext {
  consecutive_failures: number;
  /** Exponentially weighted share of recent successes, 0–1; a new channel is trusted. */
  recent_success: number;
  /** Reports since the circuit last closed, up to `MIN_SAMPLES`: a rate of three calls says little. */
  samples: number;
  /** Not before this time is the channel tried again. */
  open_until: number;
  /** How often it opened since it was last healthy: each time it rests for twice as long. */
  openings: number;
  /** Calls that may run at once while a channel comes back, one more with each success; null = all. */
  slots: number | null;
  /** Number of the last probe: the verdict of an older one is not the verdict of this one. */
  probe: number;
  /** Why it is open or disabled; for the operator. */
  reason: string | null;
  /** Disabled for its credentials: after `open_until` one call finds out whether they were mended. */
  returns: boolean;
}

/** Classes that count against a channel. */
export type ChannelFailure = 'auth' | 'timeout' | 'server' | 'malformed' | 'connection';

export type ChannelEvent =
  | { type: 'SUCCEEDED' }
  | { type: 'FAILED'; failure: ChannelFailure; now: number }
  /** The upstream asks for patience until `until`; a `failure` other than too many calls made it. */
  | { type: 'THROTTLED'; until: number; failure?: ChannelFailure }
  /** Somebody wants to use the channel; if its time has come, that call is the probe. */
  | { type: 'COOLED'; now: number }
  | { type: 'PROBED'; probe: number; verdict: 'succeeded' }
  | { type: 'PROBED'; probe: number; verdict: 'failed'; failure: ChannelFailure; now: number }
  /** The probe's client left, or its request was at fault: nobody knows (P9). */
  | { type: 'PROBED'; probe: number; verdict: 'abandoned' }
  /** Another replica has seen it serve again. */
  | { type: 'MENDED' }
  | { type: 'DISABLED'; reason: string }
  | { type: 'ENABLED' };

export const FAILURES_TO_OPEN = 5;
export const MIN_SAMPLES = 20;
const SUCCESS_TO_STAY = 0.5;
/** What a channel rests for when it opens first, by what it did: the dearer a try, the longer. */
export const COOLDOWNS_MS: Record<ChannelFailure, number> = {
  /** Nothing listens: found out at once, and over as soon as it was started again. */
  connection: 2_000,
  server: 5_000,
  /** Each try costs a client its patience. */
  timeout: 10_000,
  malformed: 15_000,
  /** Credentials do not mend themselves in seconds. */
  auth: 60_000,
};
/** What it rests for at most, however often it opens: where a try is cheap it is soon found well again. */
export const LONGEST_COOLDOWNS_MS: Record<ChannelFailure, number> = {
  connection: 15_000,
  server: 20_000,
  timeout: 60_000,
  malformed: 60_000,
  auth: 60_000,
};
/** With so many slots in use a channel is back. */
const SLOTS_AFTER_RECOVERY = 64;
const WEIGHT_OF_ONE = 0.1;
const DEGRADED_BELOW = 0.8;
const HEALTHY_ABOVE = 0.9;
/** A channel that comes back is trusted half and earns the rest: slow start. */
const SUCCESS_AFTER_PROBE = 0.5;

const recorded = (context: ChannelContext, success: boolean) => ({
  recent_success: context.recent_success * (1 - WEIGHT_OF_ONE) + (success ? WEIGHT_OF_ONE : 0),
  samples: Math.min(MIN_SAMPLES, context.samples + 1),
  consecutive_failures: success ? 0 : context.consecutive_failures + 1,
  slots: placesAfter(context.slots, success),
});

/** Slow start: doubles with every round of calls, and halves with a failure. */
function placesAfter(slots: number | null, success: boolean): number | null {
  if (slots === null) return null;
  if (!success) return Math.max(1, Math.floor(slots / 2));
  return slots >= SLOTS_AFTER_RECOVERY ? null : slots + 1;
}

/** How long it rests now, ms. */
function cooldown(failure: ChannelFailure, openings: number): number {
  return Math.min(COOLDOWNS_MS[failure] * 2 ** openings, LONGEST_COOLDOWNS_MS[failure]);
}

export const channelMachine = setup({
  types: { context: {} as ChannelContext, events: {} as ChannelEvent },
  guards: {
    isRefused: ({ event }) => 'failure' in event && event.failure === 'auth',
    trips: ({ context, event }) => {
      if (event.type !== 'FAILED') return false;
      const after = recorded(context, false);
      return (
        after.consecutive_failures >= FAILURES_TO_OPEN ||
        (after.samples >= MIN_SAMPLES && after.recent_success < SUCCESS_TO_STAY)
      );
    },
    becomesDegraded: ({ context }) => recorded(context, false).recent_success < DEGRADED_BELOW,
    becomesHealthy: ({ context }) => recorded(context, true).recent_success > HEALTHY_ABOVE,
    isCool: ({ context, event }) => event.type === 'COOLED' && event.now >= context.open_until,
    mayReturn: ({ context, event }) =>
      context.returns && event.type === 'COOLED' && event.now >= context.open_until,
    returns: ({ context }) => context.returns,
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
    recordSuccess: assign(({ context }) => recorded(context, true)),
    recordFailure: assign(({ context }) => recorded(context, false)),
    open: assign(({ context, event }) => {
      if (event.type === 'THROTTLED' || !('failure' in event)) return {};
      return {
        // A deadline that the upstream named is never shortened.
        open_until: Math.max(
          context.open_until,
          event.now + cooldown(event.failure, context.openings),
        ),
        openings: context.openings + 1,
        reason: event.failure,
        returns: event.failure === 'auth',
      };
    }),
    holdOff: assign(({ context, event }) =>
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
    forgetOpenings: assign({ openings: 0 }),
    noteReason: assign(({ event }) =>
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
  on: { DISABLED: { target: '.disabled', actions: 'noteReason' } },
  states: {
    healthy: {
      on: {
        SUCCEEDED: { actions: 'recordSuccess' },
        FAILED: [
          { guard: 'isRefused', target: 'disabled', actions: ['recordFailure', 'open'] },
          { guard: 'trips', target: 'open', actions: ['recordFailure', 'open'] },
          { guard: 'becomesDegraded', target: 'degraded', actions: 'recordFailure' },
          { actions: 'recordFailure' },
        ],
        THROTTLED: { target: 'open', actions: 'holdOff' },
      },
    },
    /** Works, but not well: it gets less. */
    degraded: {
      on: {
        SUCCEEDED: [
          {
            guard: 'becomesHealthy',
            target: 'healthy',
            actions: ['recordSuccess', 'forgetOpenings'],
          },
          { actions: 'recordSuccess' },
        ],
        FAILED: [
          { guard: 'isRefused', target: 'disabled', actions: ['recordFailure', 'open'] },
          { guard: 'trips', target: 'open', actions: ['recordFailure', 'open'] },
          { actions: 'recordFailure' },
        ],
        THROTTLED: { target: 'open', actions: 'holdOff' },
      },
    },
    /** Nothing is sent. What calls that were under way report was judged already. */
    open: {
      on: {
        COOLED: { guard: 'isCool', target: 'probing', actions: 'startProbe' },
        THROTTLED: { actions: 'holdOff' },
        FAILED: { guard: 'isRefused', target: 'disabled', actions: 'open' },
        MENDED: { target: 'degraded', actions: 'close' },
      },
    },
    /** One call finds out: entered with it, left with its verdict, deaf to all others. */
    probing: {
      on: {
        PROBED: [
          { guard: 'probeSucceeded', target: 'degraded', actions: 'close' },
          { guard: 'probeWasRefused', target: 'disabled', actions: ['recordFailure', 'open'] },
          { guard: 'probeFailed', target: 'open', actions: ['recordFailure', 'open'] },
          { guard: 'refusedProbeWasAbandoned', target: 'disabled' },
          { guard: 'probeWasAbandoned', target: 'open' },
        ],
        THROTTLED: { target: 'open', actions: 'holdOff' },
      },
    },
    /** By the operator, until he changes his mind; or its credentials are refused. */
    disabled: {
      on: {
        COOLED: { guard: 'mayReturn', target: 'probing', actions: 'startProbe' },
        MENDED: { guard: 'returns', target: 'degraded', actions: 'close' },
        ENABLED: { target: 'degraded', actions: ['close', 'forgetOpenings'] },
      },
    },
  },
});
