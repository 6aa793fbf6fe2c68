import type { Model } from '../api/types.ts';
import { Badge } from '../parts/badge.tsx';

const SHOWN = {
  available: { tone: 'good', says: 'A healthy provider takes calls now.' },
  degraded: {
    tone: 'warn',
    says: 'Providers of this model failed lately. Calls still go through.',
  },
  unavailable: { tone: 'bad', says: 'No provider takes calls of this model now.' },
} as const;

/** What a caller may expect of a model now. */
export function ModelStatus({ status }: { status: Model['status'] }) {
  const { tone, says } = SHOWN[status];
  return (
    <span title={says}>
      <Badge tone={tone}>{status}</Badge>
    </span>
  );
}

/** What the status means, in words. */
export const statusText = (status: Model['status']): string => SHOWN[status].says;
