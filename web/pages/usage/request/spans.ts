import type { CallMoment } from '../../../api/types.ts';

/** A part of a call's time, ms since its arrival. */
export interface Span {
  readonly name: string;
  readonly from_ms: number;
  readonly until_ms: number;
  /** Why an attempt failed. */
  readonly failure?: string | undefined;
  readonly kind: 'weir' | 'attempt' | 'wait' | 'stream';
}

const ATTEMPT = /^attempt_(\d+)$/;

/**
 * Returns the parts of a call's time. Each begins where the one before ended, but the wait for the first
 * token and the stream lie within the last attempt.
 */
export function spansOf(timeline: readonly CallMoment[]): Span[] {
  const at = (stage: string) => timeline.find((moment) => moment.stage === stage)?.at_ms;
  const attempts = timeline.filter(({ stage }) => ATTEMPT.test(stage));
  const ended = at('ended') ?? Math.max(...timeline.map(({ at_ms }) => at_ms));
  const spans: Span[] = [];
  let reached = 0;
  const part = (name: string, until_ms: number | undefined, kind: Span['kind'] = 'weir') => {
    if (until_ms === undefined) return;
    spans.push({ name, from_ms: reached, until_ms, kind });
    reached = until_ms;
  };
  part('Authenticate', at('authenticated'));
  part('Reserve money', at('reserved'));
  part('Choose a channel', attempts[0]?.at_ms);
  for (const [index, { stage, at_ms, until_ms, result }] of attempts.entries()) {
    const next = attempts[index + 1]?.at_ms;
    spans.push({
      name: `Attempt ${ATTEMPT.exec(stage)?.[1] ?? ''}`,
      from_ms: at_ms,
      until_ms: until_ms ?? next ?? ended,
      kind: 'attempt',
      failure: result ?? undefined,
    });
  }
  const last = attempts.at(-1);
  const first_token = at('first_token');
  if (last && first_token !== undefined) {
    spans.push({
      name: 'First token',
      from_ms: last.at_ms,
      until_ms: first_token,
      kind: 'wait',
    });
    spans.push({ name: 'Answer', from_ms: first_token, until_ms: ended, kind: 'stream' });
  }
  if (attempts.length === 0 && ended > reached) part('Answer', ended);
  const settled = at('settled');
  if (settled !== undefined) {
    spans.push({
      name: 'Settle',
      from_ms: ended,
      until_ms: Math.max(ended, settled),
      kind: 'weir',
    });
  }
  return spans;
}
