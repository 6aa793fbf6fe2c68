import type { Model } from '../../api/types.ts';

/** Returns a chat model that a key may use, one that works now if there is one; undefined if none may. */
export function chatModelOf(
  models: readonly Model[],
  allowed: readonly string[],
): Model | undefined {
  const chats = models.filter(
    ({ id, aliases, category }) =>
      category === 'chat' &&
      (allowed.length === 0 || [id, ...aliases].some((name) => allowed.includes(name))),
  );
  return chats.find(({ status }) => status === 'available') ?? chats[0];
}
