import type { TransactionSql } from '../../../db/client.ts';

import { insertLink, type LinkRow, type NewLink } from '../../../db/people/links.ts';
import { hashCredential, newCredential, newId } from '../../../db/secrets.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { Mail } from '../../mail/mailer.ts';
import { publicOrigin } from '../endpoint.ts';
import type { PeopleParts } from './parts.ts';

const HOUR_S = 3_600;
const INVITATION_S = 7 * 24 * HOUR_S;
/** How long each kind of link works. */
const LINK_LASTS_S = {
  ...{ invitation: INVITATION_S, operator: INVITATION_S },
  password: HOUR_S,
} as const satisfies Record<LinkRow['kind'], number>;

/** Where a link points. */
export const linkUrl = (origin: string, secret: string): string =>
  `${origin}/v1/auth/links/${secret}`;

/** A stored link, with the only copy of its secret. */
export interface MadeLink {
  readonly row: LinkRow;
  readonly secret: string;
}

/** Stores a new link, and returns it with its secret. */
export async function makeLink(
  tx: TransactionSql,
  link: Pick<NewLink, 'kind' | 'email' | 'is_mailed' | 'created_by'> &
    Partial<Pick<NewLink, 'organization_id' | 'role' | 'person_id'>>,
): Promise<MadeLink> {
  const secret = newCredential('lk');
  const row = await insertLink(tx, {
    ...{ organization_id: null, role: null, person_id: null, ...link },
    ...{ id: newId('link'), secret_hash: hashCredential(secret) },
    lasts_s: LINK_LASTS_S[link.kind],
  });
  return { row, secret };
}

/** The address of a link for the answer of a request; undefined if it was mailed instead. */
export function shownUrl(
  { mailer, public_url }: PeopleParts,
  request: Request,
  { secret }: MadeLink,
): string | undefined {
  return mailer ? undefined : linkUrl(publicOrigin(request, public_url), secret);
}

/** Mails a link, if an SMTP server is configured. Throws WeirError if the server does not take it. */
export async function mailLink(
  { mailer, public_url = '' }: PeopleParts,
  { row, secret }: MadeLink,
  about: { readonly organization?: string | undefined } = {},
): Promise<void> {
  if (!mailer || row.email === null) return;
  const url = linkUrl(public_url.replace(/\/+$/, ''), secret);
  try {
    await mailer.send({ to: row.email, ...textOf(row, url, about.organization) });
  } catch (error) {
    const message = 'The SMTP server did not take the mail.';
    throw new WeirError('service_unavailable', message, { retry_after: 60 }, error);
  }
}

function textOf(row: LinkRow, url: string, organization = ''): Omit<Mail, 'to'> {
  const until = row.expires_at.toISOString().replace('T', ' ').slice(0, 16);
  const end = `The link works once, until ${until} UTC.`;
  const what = {
    password: {
      subject: 'Choose a new password for Weir',
      start: 'Somebody asked for a new password for this address. If it was you, use this link:',
      end: `${end}\nIf it was not you, do nothing: your password stays as it is.`,
    },
    invitation: {
      subject: `You are invited to ${organization} on Weir`,
      start: `You are invited to ${organization} as ${row.role}. To accept, use this link:`,
      end,
    },
    operator: {
      subject: 'You are invited to operate Weir',
      start: 'You are invited to operate an installation of Weir. To accept, use this link:',
      end,
    },
  }[row.kind];
  return { subject: what.subject, text: `${what.start}\n\n${url}\n\n${what.end}\n` };
}
