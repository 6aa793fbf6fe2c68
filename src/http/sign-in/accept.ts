import type { Actor } from '../../../db/audit/entry.ts';
import { appendAudit } from '../../../db/audit/log.ts';
import type { TransactionSql } from '../../../db/client.ts';
import { type LinkRow, useLink } from '../../../db/people/links.ts';
import {
  addMember,
  findLonelyOrganization,
  findMember,
  lockMembers,
} from '../../../db/people/members.ts';
import { addOperator, markEmailVerified, type PersonRow } from '../../../db/people/people.ts';
import { WeirError } from '../../errors/weir-error.ts';

/** Returns the same error for a link that never existed, was used or revoked, or has expired. */
export function invalidLink(): WeirError {
  const message = 'This link is not valid: it was used or revoked, or it has expired.';
  return new WeirError('not_found', message, {
    param: 'link',
    hint: 'Ask whoever invited you for another link.',
  });
}

/**
 * Uses an invitation up and gives its person what it promises. Throws WeirError if the invitation was
 * used meanwhile. An earlier role in the organization stays.
 */
export async function acceptInvitation(
  tx: TransactionSql,
  link_id: string,
  person: Pick<PersonRow, 'id' | 'email'>,
  actor: Actor,
): Promise<LinkRow> {
  const link = await useLink(tx, link_id);
  if (!link) throw invalidLink();
  if (link.is_mailed && link.email === person.email) await markEmailVerified(tx, person.id);
  const { organization_id, role } = link;
  await lockMembers(tx, organization_id);
  if (organization_id === null || role === null) {
    if (await addOperator(tx, person.id)) {
      const after = { email: person.email };
      await audit(tx, actor, null, 'operator.add', person.id, after);
    }
    await audit(tx, actor, null, 'invitation.use', link.id, { person_id: person.id });
    if (link.email === null) await joinFirstOrganization(tx, person, actor);
    return link;
  }
  if (await addMember(tx, organization_id, person.id, role)) {
    const after = { email: person.email, role };
    await audit(tx, actor, organization_id, 'member.add', person.id, after);
  }
  const member = await findMember(tx, organization_id, person.id);
  const after = { person_id: person.id, role: member?.role ?? role };
  await audit(tx, actor, organization_id, 'invitation.use', link.id, after);
  return link;
}

/**
 * Makes the first operator the owner of the organization that the first start made, so that all pages work
 * at once.
 */
async function joinFirstOrganization(
  tx: TransactionSql,
  person: Pick<PersonRow, 'id' | 'email'>,
  actor: Actor,
): Promise<void> {
  const organization_id = await findLonelyOrganization(tx);
  if (organization_id === undefined) return;
  await lockMembers(tx, organization_id);
  if (!(await addMember(tx, organization_id, person.id, 'owner'))) return;
  const after = { email: person.email, role: 'owner' };
  await audit(tx, actor, organization_id, 'member.add', person.id, after);
}

function audit(
  tx: TransactionSql,
  actor: Actor,
  organization_id: string | null,
  action: string,
  subject_id: string,
  after: object,
): Promise<unknown> {
  return appendAudit(tx, { organization_id, actor, action, subject_id, before: null, after });
}
