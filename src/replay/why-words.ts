import type { TakenTransition } from './taken.ts';

/** What each event means, worded for people. Organizations read it too (P5). */
const EVENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  task: {
    ACCEPTED: 'its call was accepted, and its money was held',
    RETRY: 'the pause before its next submission ended',
    DEADLINE: 'its deadline passed',
    CANCEL: 'the client of its call left',
    CANCEL_REQUESTED: 'somebody canceled it',
    SUBMITTED: 'an upstream took the job',
    PRODUCED: 'the job had a result',
    UPSTREAM_FAILED: 'the job failed',
    SUBMIT_REJECTED: 'its submission was refused',
    LOST: 'the answer to its submission was lost',
    POLL: 'the pause before its next poll ended',
    PROGRESSED: 'the job was still running',
    ASK: 'the pause before the next look-up of its job ended',
    UNANSWERED: 'the look-up found no job',
    COLLECTED: 'its result was stored',
    COLLECT_FAILED: 'its result could not be stored',
    SETTLED: 'its charge was committed',
    RELEASED: 'its held money was released',
  },
  batch: {
    OPENED: 'its items were stored',
    WORKED: 'none of its items ran any more',
    CANCEL: 'somebody canceled it',
    CLOSED: 'each of its items had a result',
  },
  webhook: {
    ANNOUNCED: 'its task ended',
    DELIVERED: 'the receiver took it',
    REFUSED: 'the receiver refused it or did not answer',
    RETRY: 'the pause before its next attempt ended',
  },
  quota: {
    RESERVE: 'a call asked for money',
    EXTEND: 'a running call asked for more money',
    CALLS: 'calls that the grant covered began or ended; this is their sum',
    UNBOOKED: 'the ledger booked less than was charged',
    REFILL: 'a larger grant was requested',
    GRANTED: 'the ledger granted money',
    REFUSED: 'the ledger granted no money',
    RECALLED: 'its unused money was needed elsewhere',
    REPLACED: 'a new grant took the place of the old one',
    SHRINK: 'it returned unused money',
    LIMIT_CHANGED: 'a cap or a balance changed',
    STATUS_CHANGED: 'the status of the key or of its organization changed',
    EXPIRED: 'the key expired',
  },
  channel: {
    SUCCEEDED: 'a call succeeded',
    FAILED: 'a call failed',
    THROTTLED: 'the upstream takes no call for a while',
    COOLED: 'a call needed it after its cooldown',
    PROBED: 'the test call ended',
    MENDED: 'a test of Weir, an operator or another replica found that it works',
    DISABLED: 'it was disabled',
    ENABLED: 'an operator enabled it',
  },
};

/** What it means that a guard held, and that it did not. */
const GUARDS: Readonly<Record<string, Readonly<Record<string, readonly [string, string]>>>> = {
  task: {
    isNew: ['it had not been submitted before', 'it had been submitted before'],
    isEnding: [
      'its end was decided: its deadline had passed, or its client had left',
      'nothing had ended it meanwhile',
    ],
    isUnwanted: ['somebody had canceled it', 'nobody had canceled it'],
    isBusy: ['no slot was free', 'a lack of slots was not the reason'],
    mayFailOver: ['another upstream could be tried', 'no other upstream was left to try'],
    mayTryLater: ['a later round could succeed', 'no later round was allowed'],
    mayRecollect: ['the result could be fetched again', 'the result could not be fetched again'],
    mayLookUpAgain: ['the job could still be found', 'no further look-up made sense'],
  },
  batch: {},
  webhook: {
    isLastAttempt: ['no further attempt was allowed', 'another attempt was allowed'],
  },
  quota: {
    isCovered: ['the grant covered it', 'the grant did not cover it'],
    isExact: [
      'the ledger gave only what the calls needed, because the cap or the balance is near',
      'the ledger gave more than the calls needed',
    ],
    isGone: [
      'all money of the key or of its organization is spent',
      'running calls could still free money',
    ],
    becomesActive: ['it became active', 'it did not become active'],
    becomesInactive: ['the key was switched off', 'the key was not switched off'],
    becomesSuspended: [
      'the key or its organization was suspended',
      'neither the key nor its organization was suspended',
    ],
    becomesRevoked: ['the key was revoked', 'the key was not revoked'],
  },
  channel: {
    isRefused: ['its credentials were refused', 'its credentials were not the reason'],
    trips: ['too many calls had failed', 'not enough calls had failed to open the circuit'],
    becomesDegraded: [
      'its share of successes fell below 80 %',
      'its share of successes stayed at 80 % or above',
    ],
    becomesHealthy: [
      'its share of successes rose above 90 %',
      'its share of successes stayed at 90 % or below',
    ],
    hasCooledDown: ['the cooldown was over', 'the cooldown was not over'],
    mayProbeCredentials: [
      'its credentials could be tested again',
      'its credentials could not be tested yet',
    ],
    mayReturn: [
      'it was disabled only because its credentials had been refused',
      'somebody had disabled it',
    ],
    probeSucceeded: ['the test call succeeded', 'the test call did not succeed'],
    probeWasRefused: ['its credentials were refused', 'its credentials were not the reason'],
    probeFailed: ['the test call failed', 'the test call did not fail'],
    refusedProbeWasAbandoned: [
      'the test call had no outcome, and its credentials had been refused before',
      'its credentials had not been refused before',
    ],
    probeWasAbandoned: ['the test call had no outcome', 'the test call had an outcome'],
  },
};

/** Returns what an event means; '' for an unknown event. */
export function eventWords(kind: string, type: string): string {
  return EVENTS[kind]?.[type] ?? '';
}

/** Returns what it means that a guard held or did not; '' for an unknown guard. */
export function guardWords(kind: string, guard: string, has_held: boolean): string {
  return GUARDS[kind]?.[guard]?.[has_held ? 0 : 1] ?? '';
}

/**
 * Returns why a machine took a transition: its event, and the guard that held. Where no guard held, the
 * guards that did not hold say why. E.g. `the ledger granted no money, and running calls could still free
 * money`.
 */
export function whyWords(kind: string, { event, guard, failed }: TakenTransition): string {
  const guards =
    guard === null
      ? failed.map((each) => guardWords(kind, each, false))
      : [guardWords(kind, guard, true)];
  const reasons = [...new Set(guards)].filter((words) => words !== '');
  const last = reasons.pop();
  const what = eventWords(kind, event);
  if (last === undefined) return what;
  return `${[what, ...reasons].join(', ')}, and ${last}`;
}
