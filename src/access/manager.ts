import type { Actor } from '../../db/audit/entry.ts';
import type { Rights } from './actions.ts';

/** The caller of a management route: the holder of a management token. */
export interface Manager {
  readonly organization_id: string;
  /** The rate-limit role of the organization. */
  readonly role: string;
  /** The id of the token. Requests are counted under it. */
  readonly token_id: string;
  readonly rights: Rights;
  /** Who the audit log names. */
  readonly actor: Actor;
}

/** The caller of an operator route. */
export interface Operator {
  /** Who the audit log names. */
  readonly actor: Actor;
}
