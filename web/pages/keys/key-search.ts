import type { ApiKey } from '../../api/types.ts';

const STATUSES = ['active', 'inactive', 'suspended', 'revoked'] as const;
const SORTS = ['newest', 'name', 'spent', 'left', 'used'] as const;

export type KeySort = (typeof SORTS)[number];

/** What the address of the list of keys has. */
export interface KeysSearch {
  readonly create?: boolean | undefined;
  readonly status?: (typeof STATUSES)[number] | undefined;
  readonly tag?: string | undefined;
  /** A part of a name, a prefix, an external id or a tag. */
  readonly q?: string | undefined;
  readonly sort?: KeySort | undefined;
}

export function keysSearchOf(search: Record<string, unknown>): KeysSearch {
  const { create, status, tag, q, sort } = search;
  return {
    ...(create === true || create === 'true' ? { create: true } : {}),
    ...(STATUSES.includes(status as never) ? { status: status as KeysSearch['status'] } : {}),
    ...(isText(tag) ? { tag: String(tag) } : {}),
    ...(isText(q) ? { q: String(q) } : {}),
    ...(SORTS.includes(sort as never) ? { sort: sort as KeySort } : {}),
  };
}

// The router reads `?q=1` as a number.
const isText = (value: unknown) =>
  (typeof value === 'string' && value !== '') || typeof value === 'number';

/** The keys that have a text, in an order. A text is found in any case. */
export function foundKeys(
  keys: readonly ApiKey[],
  text: string,
  sort: KeySort = 'newest',
): readonly ApiKey[] {
  const wanted = text.trim().toLowerCase();
  const found = keys.filter(({ name, key_prefix, external_id, tags, id }) =>
    [name, key_prefix, external_id ?? '', id, ...tags].some((each) =>
      each.toLowerCase().includes(wanted),
    ),
  );
  return found.toSorted((a, b) => ORDERS[sort](a, b) || NEWEST(a, b));
}

type Order = (a: ApiKey, b: ApiKey) => number;

const NEWEST: Order = (a, b) =>
  b.created_at < a.created_at ? -1 : b.created_at > a.created_at ? 1 : a.id < b.id ? 1 : -1;

const ORDERS: Readonly<Record<KeySort, Order>> = {
  newest: NEWEST,
  name: (a, b) => a.name.localeCompare(b.name),
  spent: (a, b) => b.used_amount - a.used_amount,
  // Keys without a cap have the most left. Two of them are equal.
  left: (a, b) => {
    const [left, right] = [leftOf(a), leftOf(b)];
    return left === right ? 0 : left - right;
  },
  used: (a, b) => timeOf(b) - timeOf(a),
};

const leftOf = ({ limit_amount, used_amount }: ApiKey): number =>
  limit_amount === null ? Number.POSITIVE_INFINITY : limit_amount - used_amount;

const timeOf = ({ last_used_at }: ApiKey): number =>
  last_used_at === null ? 0 : Date.parse(last_used_at);
