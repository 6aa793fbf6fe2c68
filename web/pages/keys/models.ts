import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';

/** A model of the catalogue (`GET /v1/management/models`). */
export interface CatalogueModel {
  readonly id: string;
  readonly category: string;
  /** `available`, `degraded` or `unavailable`. */
  readonly status: string;
}

/** The models that a key may be limited to. */
export function useCatalogue() {
  return useQuery({
    queryKey: ['models', 'ids'],
    queryFn: async ({ signal }) =>
      (await api.get<{ data: CatalogueModel[] }>('/v1/management/models', {}, signal)).data,
    staleTime: 60_000,
  });
}

/** Returns a chat model that a key may use, one that works now if there is one; undefined if none may. */
export function chatModelOf(
  models: readonly CatalogueModel[],
  allowed: readonly string[],
): string | undefined {
  const chats = models.filter(
    ({ id, category }) => category === 'chat' && (allowed.length === 0 || allowed.includes(id)),
  );
  return (chats.find(({ status }) => status === 'available') ?? chats[0])?.id;
}
