import { createHmac } from 'node:crypto';
import { DURABLE_KINDS, MEMORY_KINDS, ORGANIZATION_KINDS } from './kinds.ts';
import { shownMembers } from './shown.ts';

/** Hex digits of a name that stands for a channel or a replica. */
const ALIAS_DIGITS = 8;

/** Who looks at actors, and what of them he sees. */
export interface Viewer {
  /** The viewer's organization; null for operators, who see all. */
  readonly organization_id: string | null;
  readonly kinds: readonly string[];
  /** Returns the name of a replica for the viewer. */
  replica(replica_id: string): string;
  /** Returns the members of a context or an event of an actor that the viewer may see. */
  members(kind: string, id: string, members: object): Record<string, unknown>;
  /** True if the viewer sees other values in the context of this kind than the machine has. */
  isVeiled(kind: string): boolean;
}

/** The viewer that is an operator. */
export const OPERATOR: Viewer = {
  organization_id: null,
  kinds: [...DURABLE_KINDS, ...MEMORY_KINDS],
  replica: (replica_id) => replica_id,
  members: (kind, _, members) => shownMembers(kind, members, undefined),
  isVeiled: () => false,
};

/**
 * Returns the viewer that is an organization. It sees aliases of channels and replicas (P5). `key`
 * makes the aliases: without it nobody can find out which channel an alias is. An alias is the same
 * in all events of one actor, so that a replay works, and differs between actors.
 */
export function organizationViewer(organization_id: string, key: Uint8Array): Viewer {
  const alias = (prefix: string, text: string) =>
    `${prefix}-${createHmac('sha256', key).update(text).digest('hex').slice(0, ALIAS_DIGITS)}`;
  return {
    organization_id,
    kinds: ORGANIZATION_KINDS,
    replica: (replica_id) => alias('replica', `${organization_id} ${replica_id}`),
    members: (kind, id, members) =>
      shownMembers(kind, members, (channel) => alias('hidden', `${kind}/${id} ${channel}`)),
    isVeiled: (kind) => kind === 'task',
  };
}
