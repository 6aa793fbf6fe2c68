import { topState } from '../../../src/replay/step.ts';
import type { Tone } from '../../parts/badge.tsx';

const TONES: Readonly<Record<string, Tone>> = {
  ...{ completed: 'good', delivered: 'good', ended: 'good', healthy: 'good', open: 'good' },
  ...{ pending: 'accent', processing: 'accent', in_progress: 'accent', delivering: 'accent' },
  ...{ refunding: 'warn', canceling: 'warn', waiting: 'warn', degraded: 'warn', probing: 'warn' },
  ...{ inactive: 'warn', suspended: 'warn', expired: 'warn' },
  ...{ failed: 'bad', exhausted: 'bad', revoked: 'bad', disabled: 'bad' },
};

/** The colour of a state. */
export function toneOf(kind: string, state: string): Tone {
  // An open circuit lets no call through; an open quota admits calls.
  if (kind === 'channel' && state === 'open') return 'bad';
  return TONES[topState(state)] ?? 'calm';
}
