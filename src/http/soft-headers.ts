import type { ReachedLimit } from '../../db/records/record.ts';
import type { CallRecord } from '../inference/records/call-record.ts';
import { SOFT_HEADERS } from '../protocols/soft-headers.ts';

/** Adds the headers of `SOFT_HEADERS`. Nearly all calls exceed nothing. */
export function addSoftHeaders(
  headers: Headers,
  { reached, moved_from, model }: Pick<CallRecord, 'reached' | 'moved_from' | 'model'>,
): void {
  if (!reached) return;
  headers.set(SOFT_HEADERS.warning, reached.map(itemOf).join(', '));
  if (moved_from === undefined) return;
  headers.set(SOFT_HEADERS.moved_from, encodeURI(moved_from));
  headers.set(SOFT_HEADERS.moved_to, encodeURI(model));
}

/** Returns an item with its parameters, e.g. `budget_reached;period="day";frees_in_s=3600`. */
function itemOf({ type, frees_in_s, ...rest }: ReachedLimit): string {
  const name = type === 'budget' ? 'budget_reached' : 'limit_reached';
  const limit = type === 'budget' ? {} : { limit: type };
  const texts = Object.entries({ ...limit, ...rest }).map(
    ([key, value]) => `;${key}="${encodeURI(value)}"`,
  );
  return `${name}${texts.join('')}${frees_in_s === undefined ? '' : `;frees_in_s=${frees_in_s}`}`;
}
