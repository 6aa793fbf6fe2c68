/** The kinds of actors that are rows. */
export const DURABLE_KINDS: readonly string[] = ['task', 'batch', 'webhook'];
/** The kinds of actors that live in the memory of each replica and have no log. */
export const MEMORY_KINDS: readonly string[] = ['quota', 'channel'];
/** The kinds whose actors belong to organizations. Only operators see the others. */
export const ORGANIZATION_KINDS: readonly string[] = [...DURABLE_KINDS, 'quota'];

export const isDurable = (kind: string): boolean => DURABLE_KINDS.includes(kind);
export const isInMemory = (kind: string): boolean => MEMORY_KINDS.includes(kind);
