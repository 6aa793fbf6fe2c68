import { Badge, type Tone } from '../../parts/badge.tsx';

/** How calls end, in the order of the filter. */
export const OUTCOMES: Readonly<Record<string, { readonly tone: Tone; readonly says: string }>> = {
  completed: { tone: 'good', says: 'the answer was complete' },
  partial: { tone: 'warn', says: 'a part of the answer was delivered, and charged' },
  refused: { tone: 'warn', says: 'Weir or the provider refused the call' },
  failed: { tone: 'bad', says: 'the call failed' },
  canceled: { tone: 'calm', says: 'the client left before it received anything' },
  repeated: { tone: 'calm', says: 'an earlier answer was sent again' },
  cached: { tone: 'good', says: 'an earlier answer was sent again, from the cache' },
  accepted: { tone: 'accent', says: 'a task or a batch runs' },
  free: { tone: 'calm', says: 'the call costs nothing' },
};

/** How a call ended. */
export function Outcome({ outcome }: { outcome: string }) {
  return <Badge tone={OUTCOMES[outcome]?.tone ?? 'calm'}>{outcome}</Badge>;
}
