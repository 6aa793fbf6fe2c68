import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import type { OwnKey } from '../../../api/types.ts';

export const OWN_KEYS_PATH = '/v1/management/upstream-keys';
export const ownKeyPath = (id: string, act = ''): string =>
  `${OWN_KEYS_PATH}/${encodeURIComponent(id)}${act}`;

/** No event says that a provider refused a key. */
const REREAD_MS = 30_000;

/** All own keys, also the revoked ones. */
export const ownKeysQuery = queryOptions({
  queryKey: ['upstream-keys'],
  queryFn: async ({ signal }) =>
    (await api.get<{ data: OwnKey[] }>(OWN_KEYS_PATH, {}, signal)).data,
  refetchInterval: REREAD_MS,
});

export const rereadOwnKeys = (queries: QueryClient): Promise<void> =>
  queries.invalidateQueries({ queryKey: ownKeysQuery.queryKey });
