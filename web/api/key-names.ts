import { queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { api } from './client.ts';
import type { ApiKey } from './types.ts';

/** The read of the names. */
export const keyNames = queryOptions({
  queryKey: ['key-names'],
  queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
    const { data } = await api.get<{ data: ApiKey[] }>('/v1/management/api-keys', {}, signal);
    return new Map(data.map(({ id, name }) => [id, name]));
  },
  staleTime: 60_000,
});

/**
 * The names of the API keys by their ids; undefined until they are known. Other than the list of keys it is
 * not read again when money moves. An id in `seen` that it lacks is looked for once: the key may be new.
 */
export function useKeyNames(seen: readonly string[] = []): ReadonlyMap<string, string> | undefined {
  const { data, refetch } = useQuery(keyNames);
  const looked_for = useRef(new Set<string>());
  useEffect(() => {
    const missing = data ? seen.filter((id) => !data.has(id) && !looked_for.current.has(id)) : [];
    if (missing.length === 0) return;
    for (const id of missing) looked_for.current.add(id);
    refetch();
  }, [data, seen, refetch]);
  return data;
}
