import type { LinkRow } from '../../../db/people/links.ts';
import type { MemberRow } from '../../../db/people/members.ts';

/** The answer about a person of an organization. */
export const memberRecord = ({ person_id, name, email, role, created_at }: MemberRow) => ({
  ...{ object: 'person', id: person_id, name, email, role },
  joined_at: created_at.toISOString(),
});

/** The answer about an invitation. It has no secret. */
export const invitationRecord = (row: LinkRow) => ({
  ...{ object: 'invitation', id: row.id, email: row.email, status: row.status },
  ...(row.kind === 'operator'
    ? { is_operator: true }
    : { organization_id: row.organization_id, role: row.role }),
  ...{ is_mailed: row.is_mailed, created_by: row.created_by },
  created_at: row.created_at.toISOString(),
  expires_at: row.expires_at.toISOString(),
});
