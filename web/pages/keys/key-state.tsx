import type { ApiKey } from '../../api/types.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';

/** What a key is to its callers: its status, and what else stops its calls. */
export interface KeyState {
  readonly word: string;
  readonly tone: Tone;
  /** What a caller gets. */
  readonly says: string;
}

/** Returns the state of a key at a time, ms. */
export function stateOf(
  { status, expires_at, limit_amount, used_amount }: ApiKey,
  now_ms: number,
): KeyState {
  const refused = (word: string, tone: Tone, says: string) => ({ word, tone, says });
  if (status === 'revoked') return refused('revoked', 'bad', 'Its calls get 401, for good.');
  if (status === 'suspended') return refused('suspended', 'warn', 'Its calls get 403.');
  if (status === 'inactive')
    return refused('paused', 'warn', 'Its calls get 403 until it resumes.');
  if (expires_at !== null && Date.parse(expires_at) <= now_ms) {
    return refused('expired', 'warn', 'Its calls get 401. A later expiry makes it work again.');
  }
  if (limit_amount !== null && used_amount >= limit_amount) {
    return refused('cap reached', 'bad', 'Its calls get 402. A higher cap makes it work again.');
  }
  return { word: 'active', tone: 'good', says: 'Its calls are served.' };
}

/** The state of a key as a badge. */
export function KeyBadge({ of, now_ms }: { of: ApiKey; now_ms: number }) {
  const { word, tone, says } = stateOf(of, now_ms);
  return (
    <span title={says}>
      <Badge tone={tone}>{word}</Badge>
    </span>
  );
}
