import type { OrganizationStatus } from '../../../db/accounts/organizations.ts';
import { type AccountRow, lockAccount } from '../../../db/accounts/organizations.ts';
import { appendAudit } from '../../../db/audit/log.ts';
import type { TransactionSql } from '../../../db/client.ts';
import type { Operator } from '../../access/manager.ts';
import { applyMoneyCommands, type MoneyCommand } from '../../actors/money/ledger.ts';
import type { MoneyHintPublisher, MoneyHints } from '../../actors/money/money-hints.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { KeyCache } from '../../inference/keys/key-cache.ts';
import type { Authentication } from '../auth/authentication.ts';
import { MAX_MANAGEMENT_BODY_BYTES, readJsonObject } from '../body.ts';
import type { RequestContext } from '../endpoint.ts';
import { type ChangeDeps, changeOnce } from '../management/change-once.ts';
import { OPERATORS } from '../operators.ts';

/** What replicas must hear of changes of organizations. */
interface OrganizationNews {
  /**
   * Notifies all replicas of a changed status or limit. Called after the commit, and also if Weir does
   * not know whether the change was committed. Must not throw.
   */
  announce(organization_id: string): void;
  /** Called when a status has been changed, before the response. */
  onChanged(organization_id: string, status: OrganizationStatus): void;
  readonly money: MoneyHintPublisher;
}

/** Dependencies of the routes of organizations. */
export interface OrganizationDeps extends ChangeDeps {
  readonly authentication: Authentication;
  readonly keys: Pick<KeyCache, 'invalidateOrganization'>;
  readonly rateLimit: { readonly role_names: readonly string[] };
  /** Missing if this process has no other parts that know organizations. */
  readonly organizationNews?: OrganizationNews;
}

/** A change of one organization, within its transaction. */
export interface OrganizationChange {
  readonly tx: TransactionSql;
  readonly before: AccountRow;
  /** Adds a line to the audit logs of the organization and of the installation. */
  audit(action: string, subject_id: string, members: Members): Promise<unknown>;
  /** Moves money. Replicas get its messages after the commit. */
  move(command: MoneyCommand): Promise<void>;
}

type Members = { readonly before: object | null; readonly after: object | null };

/** Returns the parsed body of an operator's request, and its text. */
export function readOperatorBody({ request, bytes }: RequestContext) {
  return readJsonObject(request, bytes.of(OPERATORS), MAX_MANAGEMENT_BODY_BYTES);
}

/**
 * Changes the organization of the path while nobody else changes it or moves its money. Throws WeirError
 * if there is no such organization, and the errors of `change`.
 */
export async function changeOrganization(
  deps: OrganizationDeps,
  context: RequestContext,
  { actor }: Operator,
  { route, body }: { readonly route: string; readonly body: string },
  change: (of: OrganizationChange) => Promise<Response>,
): Promise<Response> {
  const id = organizationIdOf(context);
  // Operators wait for each other, as their log makes them do anyway. They must not wait for the
  // requests of an organization that they suspend.
  const request = { organization_id: null, actor_id: actor.id, route, body };
  const hints: MoneyHints[] = [];
  const answer = changeOnce(deps, context, request, async (tx) => {
    hints.length = 0;
    const before = await lockAccount(tx, id);
    if (!before) throw organizationNotFound();
    return change({
      ...{ tx, before },
      audit: (action, subject_id, members) =>
        appendAudit(tx, { organization_id: id, actor, action, subject_id, ...members }),
      async move(command) {
        hints.push((await applyMoneyCommands(tx, [command])).hints);
      },
    });
  });
  const { money } = deps.organizationNews ?? {};
  try {
    const response = await answer;
    for (const each of hints) money?.publish(each);
    return response;
  } catch (error) {
    // Perhaps the answer to the commit was lost.
    if (hints.length > 0) money?.publishUnknown();
    throw error;
  }
}

/** Returns the id in the path. Throws WeirError if no organization can have it. */
export function organizationIdOf({ params }: RequestContext): string {
  const id = params['id'] ?? '';
  // No id contains NUL, and PostgreSQL refuses a text with NUL.
  if (id.includes('\u0000')) throw organizationNotFound();
  return id;
}

/** The error of a request for an organization that does not exist. */
export function organizationNotFound(): WeirError {
  return new WeirError('not_found', 'There is no such organization.', { param: 'id' });
}
