import { createHash } from 'node:crypto';
import type { Tags } from '../../../db/budgets/tags.ts';

const DIGEST_CHARS = 16;

/**
 * Returns the name of a quota actor for observers: the id of its key. If its calls have budgeted tags, a suffix tells
 * the actors of the key apart. It shows that there are tags, but not which.
 */
export function quotaName(key_id: string, tags: Tags | undefined): string {
  if (!tags) return key_id;
  const digest = createHash('sha256').update(JSON.stringify(tags)).digest('hex');
  return `${key_id}:${digest.slice(0, DIGEST_CHARS)}`;
}
