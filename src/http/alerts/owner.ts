import { OPERATORS_OWNER } from '../../../db/alerts/kinds.ts';
import type { Actor } from '../../../db/audit/entry.ts';
import type { Sql } from '../../../db/client.ts';
import type { Redeliveries } from '../../actors/webhooks/redelivery.ts';
import { type JsonBody, MAX_MANAGEMENT_BODY_BYTES, readJsonObject } from '../body.ts';
import type { RequestContext } from '../endpoint.ts';
import type { ChangeDeps } from '../management/change-once.ts';
import { notServedHere } from '../not-served.ts';
import { OPERATORS } from '../operators.ts';

/** What the routes of alerts need. */
export interface AlertParts {
  /** The database of the routes that read. */
  readonly sql: Sql;
  /** Encrypts the secrets of endpoints; 32 bytes. */
  readonly secret_key: Uint8Array;
  /** True if the installation sends mails. */
  readonly has_mail: boolean;
  /** Internal hosts that may receive webhooks, as `host:port` (WEIR_WEBHOOK_ALLOW_HOSTS). */
  readonly allow_hosts: ReadonlySet<string>;
  readonly redeliveries: Redeliveries;
  /** Creates the actor of a delivery that was committed. */
  readonly startDelivery: (id: string, owner_id: string) => Promise<void>;
}

/** Dependencies of the routes of alerts. */
export interface AlertRouteDeps extends ChangeDeps {
  /** Missing if this process sends no alerts. */
  readonly alerts?: AlertParts;
}

/** Whose alerts a request is about. */
export interface AlertOwner {
  /** The id of an organization; '' = the operators. */
  readonly owner_id: string;
  readonly actor: Actor;
}

/** Authenticates a request, and returns whose alerts it is about. Throws WeirError. */
export type Admit = (context: RequestContext) => Promise<AlertOwner>;

/** Returns the parts of the routes. Throws WeirError if this process sends no alerts. */
export const requireAlerts = ({ alerts }: AlertRouteDeps): AlertParts => alerts ?? notServedHere();

/** The organization in the audit log; null = the installation. */
export const auditedOwner = ({ owner_id }: AlertOwner): string | null =>
  owner_id === OPERATORS_OWNER ? null : owner_id;

/** Reads the body of a request, which counts for its owner. */
export function readAlertBody(
  { request, bytes }: RequestContext,
  { owner_id }: AlertOwner,
): Promise<JsonBody> {
  return readJsonObject(request, bytes.of(owner_id || OPERATORS), MAX_MANAGEMENT_BODY_BYTES);
}

/** Returns the id in the path; '' if it has NUL, which PostgreSQL refuses in a text, and no id has. */
export function idOf({ params }: RequestContext): string {
  const id = params['id'] ?? '';
  return id.includes('\u0000') ? '' : id;
}
