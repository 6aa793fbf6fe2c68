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
  /** How long the circuit opens next time; doubles each time until the channel is healthy again. */
  cooldown_ms: number;
  /** Number of the last probe: the verdict of an older one is not the verdict of this one. */
  probe: number;
  /** Why it is open or disabled; for the operator. */
  reason: string | null;
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
  | { type: 'DISABLED'; reason: string }
  | { type: 'ENABLED' };

export const FAILURES_TO_OPEN = 5;
export const MIN_SAMPLES = 20;
export const SUCCESS_TO_STAY = 0.5;
export const FIRST_COOLDOWN_MS = 5_000;
export const LAST_COOLDOWN_MS = 120_000;
/** Credentials do not mend themselves in seconds. */
export const AUTH_COOLDOWN_MS = 60_000;
const WEIGHT_OF_ONE = 0.1;
const DEGRADED_BELOW = 0.8;
const HEALTHY_ABOVE = 0.9;
/** A channel that comes back is trusted half and earns the rest: slow start. */
const SUCCESS_AFTER_PROBE = 0.5;

const recorded = (context: ChannelContext, success: boolean) => ({
  recent_success: context.recent_success * (1 - WEIGHT_OF_ONE) + (success ? WEIGHT_OF_ONE : 0),
  samples: Math.min(MIN_SAMPLES, context.samples + 1),
  consecutive_failures: success ? 0 : context.consecutive_failures + 1,
});

export const channelMachine = setup({
  types: { context: {} as ChannelContext, events: {} as ChannelEvent },
  guards: {
    trips: ({ context, event }) => {
      if (event.type !== 'FAILED') return false;
      const after = recorded(context, false);
      return (
        event.failure === 'auth' ||
        after.consecutive_failures >= FAILURES_TO_OPEN ||
        (after.samples >= MIN_SAMPLES && after.recent_success < SUCCESS_TO_STAY)
      );
    },
    becomesDegraded: ({ context }) => recorded(context, false).recent_success < DEGRADED_BELOW,
    becomesHealthy: ({ context }) => recorded(context, true).recent_success > HEALTHY_ABOVE,
    isCool: ({ context, event }) => event.type === 'COOLED' && event.now >= context.open_until,
    probeSucceeded: ({ context, event }) =>
      event.type === 'PROBED' && event.probe === context.probe && event.verdict === 'succeeded',
    probeFailed: ({ context, event }) =>
      event.type === 'PROBED' && event.probe === context.probe && event.verdict === 'failed',
    probeWasAbandoned: ({ context, event }) =>
      event.type === 'PROBED' && event.probe === context.probe && event.verdict === 'abandoned',
  },
  actions: {
    recordSuccess: assign(({ context }) => recorded(context, true)),
    recordFailure: assign(({ context }) => recorded(context, false)),
    open: assign(({ context, event }) => {
      if (event.type === 'THROTTLED' || !('failure' in event)) return {};
      const cooldown =
        event.failure === 'auth'
          ? Math.max(AUTH_COOLDOWN_MS, context.cooldown_ms)
          : context.cooldown_ms;
      return {
        // A deadline that the upstream named is never shortened.
        open_until: Math.max(context.open_until, event.now + cooldown),
        cooldown_ms: Math.min(context.cooldown_ms * 2, LAST_COOLDOWN_MS),
        reason: event.failure,
      };
    }),
    holdOff: assign(({ context, event }) =>
      event.type === 'THROTTLED'
        ? {
            open_until: Math.max(context.open_until, event.until),
            reason: event.failure ?? 'throttle',
          }
        : {},
    ),
    startProbe: assign({ probe: ({ context }) => context.probe + 1 }),
    close: assign({
      consecutive_failures: 0,
      recent_success: SUCCESS_AFTER_PROBE,
      samples: 0,
      open_until: 0,
      reason: null,
    }),
    forgetCooldown: assign({ cooldown_ms: FIRST_COOLDOWN_MS }),
    noteReason: assign(({ event }) => (event.type === 'DISABLED' ? { reason: event.reason } : {})),
  },
}).createMachine({
  id: 'channel',
  context: {
    consecutive_failures: 0,
    recent_success: 1,
    samples: 0,
    open_until: 0,
    cooldown_ms: 5_000,
    probe: 0,
    reason: null,
  },
  initial: 'healthy',
  on: { DISABLED: { target: '.disabled', actions: 'noteReason' } },
  states: {
    healthy: {
      on: {
        SUCCEEDED: { actions: 'recordSuccess' },
        FAILED: [
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
            actions: ['recordSuccess', 'forgetCooldown'],
          },
          { actions: 'recordSuccess' },
        ],
        FAILED: [
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
      },
    },
    /** One call finds out: entered with it, left with its verdict, deaf to all others. */
    probing: {
      on: {
        PROBED: [
          { guard: 'probeSucceeded', target: 'degraded', actions: 'close' },
          { guard: 'probeFailed', target: 'open', actions: ['recordFailure', 'open'] },
          { guard: 'probeWasAbandoned', target: 'open' },
        ],
        THROTTLED: { target: 'open', actions: 'holdOff' },
      },
    },
    disabled: { on: { ENABLED: { target: 'degraded', actions: ['close', 'forgetCooldown'] } } },
  },
});
