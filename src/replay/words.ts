/** What an actor does or waits for in each state, worded for people. Organizations read it too (P5). */
const WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  task: {
    'pending.reserved': 'waits until it can be submitted: a slot or the next round',
    'pending.submitting': 'waits for the answer to its submission',
    'processing.waiting': 'waits for the next poll of its job',
    'processing.polling': 'waits for the answer to a poll of its job',
    'processing.unknown.resting':
      'the answer to its submission was lost; waits for the next look-up of the job',
    'processing.unknown.asking': 'waits for the look-up of a job whose submission was lost',
    'processing.collecting': 'waits until its result is fetched and stored',
    'processing.settling': 'waits until its charge is committed',
    refunding: 'waits until its held money is released',
    completed: 'has ended; its result was charged',
    failed: 'has ended; its held money was released',
  },
  batch: {
    received: 'waits until its items are stored',
    'in_progress.working': 'waits until its items have run',
    'in_progress.closing': 'waits until items that did not run are marked as expired',
    'canceling.draining': 'is canceled; waits for the items that still run',
    'canceling.closing': 'is canceled; waits until the other items are marked',
    ended: 'has ended; each item has a result',
  },
  webhook: {
    announced: 'waits to be sent',
    delivering: 'waits for the answer of the receiver',
    waiting: 'waits for the next attempt',
    delivered: 'has ended; the receiver took it',
    failed: 'has ended; no attempt was taken by the receiver',
  },
  quota: {
    'open.ample': 'admits calls inside its grant',
    'open.refilling': 'admits calls, and waits for a larger grant',
    'open.exact': 'is near its cap: each call waits for the ledger to grant its amount',
    exhausted: 'refuses calls until its cap, its balance or a grant gives it money',
    inactive: 'refuses calls until the key is active again',
    suspended: 'refuses calls until the key or its organization is active again',
    revoked: 'refuses calls: the key is revoked',
    expired: 'refuses calls: the key has expired',
  },
  channel: {
    healthy: 'gets calls',
    degraded: 'gets fewer calls until more of them succeed',
    open: 'gets no call until its cooldown is over',
    probing: 'waits for the outcome of one test call',
    disabled: 'gets no call until it is enabled, or its credentials are tested again',
  },
};

/** Returns what an actor in this state does or waits for; '' for an unknown state. */
export function wordsFor(kind: string, state: string): string {
  return WORDS[kind]?.[state] ?? '';
}

/**
 * Returns which attempt an actor makes or waits for, from 1; null if its state has no attempts.
 * `effect_attempts` is how often the running effect was tried before.
 */
export function attemptOf(
  kind: string,
  state: string,
  context: Readonly<Record<string, unknown>>,
  effect_attempts: number | null,
): number | null {
  const count = (member: string) => Number(context[member] ?? 0) + 1;
  if (kind === 'webhook')
    return ['delivering', 'waiting'].includes(state) ? count('attempts') : null;
  if (kind === 'channel') return ['open', 'probing'].includes(state) ? count('openings') - 1 : null;
  if (kind === 'task') {
    if (state.startsWith('pending.')) return count('rounds');
    if (state === 'processing.waiting' || state === 'processing.polling') return count('polls');
    if (state.startsWith('processing.unknown.')) return count('asks');
  }
  return effect_attempts === null ? null : effect_attempts + 1;
}
