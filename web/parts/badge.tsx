import type { ReactNode } from 'react';

const TONES = {
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  calm: 'bg-sunk text-soft',
  accent: 'bg-accent-soft text-accent',
} as const;

export type Tone = keyof typeof TONES;

/** A state in one word. The word says it; the colour only helps. */
export function Badge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span
      className={`inline-block rounded-full px-2 py-px text-[0.82em] font-medium whitespace-nowrap ${TONES[tone]}`}
    >
      {children}
    </span>
  );
}

const STATE_TONES: Readonly<Record<string, Tone>> = {
  ...{
    active: 'good',
    completed: 'good',
    succeeded: 'good',
    delivered: 'good',
    ended: 'good',
    ok: 'good',
    free: 'good',
  },
  ...{ pending: 'accent', processing: 'accent', in_progress: 'accent', queued: 'accent' },
  ...{ suspended: 'warn', paused: 'warn', canceling: 'warn', refused: 'warn', expired: 'warn' },
  ...{ failed: 'bad', revoked: 'bad', error: 'bad', closed: 'bad', reached: 'bad' },
};

/** A state of the API as a badge, e.g. `processing`. */
export function StateBadge({ state }: { state: string }) {
  return <Badge tone={STATE_TONES[state] ?? 'calm'}>{state.replaceAll('_', ' ')}</Badge>;
}
