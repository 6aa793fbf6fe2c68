import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { type Answer, api } from '../../api/client.ts';
import type { ApiKey, KeyState } from '../../api/types.ts';
import { useLiveEvents } from '../../live/live-events.tsx';
import type { LiveEvent } from '../../live/stream.ts';
import { say } from '../../parts/said.tsx';
import { changesOf, formOf } from './key-form.ts';

/** The first part of the query keys of this folder. Events change what they hold in place. */
const KEYS = 'api-keys';
const PATH = '/v1/management/api-keys';
/** What colleagues change in keys comes with no event, except of money and status. */
const REREAD_MS = 60_000;

/** The part of a `usage` event that says which keys were used. */
interface UsageEvent {
  readonly by_api_key: readonly { readonly api_key_id: string; readonly amount: number }[];
}

/** What the server filters keys by. */
export interface KeyFilter {
  readonly status?: ApiKey['status'] | undefined;
  readonly tag?: string | undefined;
}

export const keyPath = (id: string, act = ''): string => `${PATH}/${encodeURIComponent(id)}${act}`;

/** The keys of the organization. Their money is live. */
export function useKeys(filter: KeyFilter) {
  useLiveKeys();
  return useQuery({
    queryKey: [KEYS, 'list', filter],
    queryFn: async ({ signal }) =>
      (await api.get<{ data: ApiKey[] }>(PATH, { ...filter }, signal)).data,
    refetchInterval: REREAD_MS,
  });
}

/** One key with the entity tag of its settings. Its money is live. */
export function useKey(id: string) {
  useLiveKeys();
  return useQuery({
    queryKey: [KEYS, 'one', id],
    queryFn: ({ signal }) => api.getTagged<ApiKey>(keyPath(id), {}, signal),
    refetchInterval: REREAD_MS,
  });
}

/** Reads all keys again, e.g. after a change. */
export const rereadKeys = (queries: QueryClient): Promise<void> =>
  queries.invalidateQueries({ queryKey: [KEYS] });

/**
 * Changes a key to what `after` says, and offers to take it back. The way back fails if somebody else
 * changed the key meanwhile.
 */
export async function changeKey(
  queries: QueryClient,
  key: ApiKey,
  changes: object,
  { etag, said }: { readonly etag?: string | undefined; readonly said: string },
): Promise<void> {
  const before = formOf(key);
  const answer = await api.patchTagged<ApiKey>(keyPath(key.id), changes, etag);
  const back = {
    ...changesOf(formOf(answer.value), before),
    ...(answer.value.status === key.status ? {} : { status: key.status }),
  };
  await rereadKeys(queries);
  say(said, async () => {
    await api.patch(keyPath(key.id), back, answer.etag);
    await rereadKeys(queries);
  });
}

/** Writes the money, the status and the last use of keys into what was read. */
function useLiveKeys(): void {
  const queries = useQueryClient();
  useLiveEvents(
    useCallback(
      (event: LiveEvent) => {
        if (event.type === 'reset') rereadKeys(queries);
        if (event.type === 'usage') {
          const { by_api_key } = event.data as UsageEvent;
          const last_used_at = new Date().toISOString();
          const used = by_api_key.filter(({ amount }) => amount > 0);
          update(queries, new Map(used.map(({ api_key_id }) => [api_key_id, { last_used_at }])));
        }
        if (event.type !== 'keys') return;
        const { keys } = event.data as { keys: readonly KeyState[] };
        update(queries, new Map(keys.map((key) => [key.api_key_id, newsOf(key)])));
        if (hasNewKey(queries, keys)) rereadKeys(queries);
      },
      [queries],
    ),
  );
}

/** True if an event names a key that the list of all keys lacks: somebody has just made it. */
function hasNewKey(queries: QueryClient, keys: readonly KeyState[]): boolean {
  const all = queries.getQueryData<ApiKey[]>([KEYS, 'list', {}]);
  if (!all) return false;
  const known = new Set(all.map(({ id }) => id));
  // A deleted key is in the events for a while, as revoked.
  return keys.some(({ api_key_id, status }) => status !== 'revoked' && !known.has(api_key_id));
}

function newsOf({ used_amount, held_amount, status }: KeyState): Partial<ApiKey> {
  return { used_amount, held_amount, status: status as ApiKey['status'] };
}

/** Writes what changed into every list and every key that was read. */
function update(queries: QueryClient, news: ReadonlyMap<string, Partial<ApiKey>>): void {
  const changed = (key: ApiKey): ApiKey => ({ ...key, ...news.get(key.id) });
  queries.setQueriesData<ApiKey[]>({ queryKey: [KEYS, 'list'] }, (list) => list?.map(changed));
  queries.setQueriesData<Answer<ApiKey>>({ queryKey: [KEYS, 'one'] }, (answer) =>
    answer ? { ...answer, value: changed(answer.value) } : answer,
  );
}
