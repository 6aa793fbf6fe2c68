import {
  type AlertToSend,
  deliversAlert,
  findAlertToSend,
  writeAlertDeliveries,
} from '../../../db/alerts/deliveries.ts';
import type { Sql } from '../../../db/client.ts';
import { unseal } from '../../config/seal.ts';
import type { WebhookEvent } from '../../machines/webhook.ts';
import type { Mailer } from '../../mail/mailer.ts';
import { refused, sendSigned, type WebhookSenderDeps } from '../webhooks/attempt.ts';
import type { OtherDeliveries } from '../webhooks/kind.ts';
import { alertRecord } from './record.ts';

export interface AlertDeliveryDeps extends WebhookSenderDeps {
  readonly sql: Sql;
  /** Decrypts the secrets of endpoints; 32 bytes. */
  readonly secret_key: Uint8Array;
  /** Sends mails; undefined if the installation sends none. */
  readonly mailer: Pick<Mailer, 'send'> | undefined;
}

/** The SMTP status of a mail that the server took, and the first status of a refusal for good (RFC 5321, 4.2.1). */
const MAIL_TAKEN = 250;
const MAIL_REFUSED = 500;

/** Returns the part of the webhook actors that delivers alerts, by webhook or mail. */
export function alertDeliveries(deps: AlertDeliveryDeps): OtherDeliveries {
  return {
    owns: deliversAlert,
    deliver: (id, signal) => deliver(deps, id, signal),
    write: writeAlertDeliveries,
  };
}

async function deliver(
  deps: AlertDeliveryDeps,
  id: string,
  signal: AbortSignal,
): Promise<WebhookEvent> {
  const found = await findAlertToSend(deps.sql, id);
  if (!found || found.is_deleted) return refused('endpoint_removed', 0, true);
  const { endpoint } = found;
  if (endpoint.medium === 'mail') return sendMail(deps, id, found);
  const secret = unseal(deps.secret_key, endpoint.sealed_secret ?? '', endpoint.id);
  return sendSigned(deps, { id, url: endpoint.target, body: bodyOf(found), secret }, signal);
}

/** The body of the webhook. It is the same for each attempt. */
function bodyOf({ alert }: AlertToSend): string {
  // A redelivery may come after the end of a state. The webhook says what was so when the alert was made.
  const data = alertRecord({ ...alert, ended_at: null });
  return JSON.stringify({ type: `alert.${alert.kind}`, timestamp: data.created_at, data });
}

async function sendMail(
  { mailer }: AlertDeliveryDeps,
  id: string,
  { alert, endpoint }: AlertToSend,
): Promise<WebhookEvent> {
  if (!mailer) return refused('mail_off', 0, true);
  const { text, act, severity } = alertRecord(alert);
  const [subject = ''] = text.split(/[.:](?:\s|$)/);
  try {
    await mailer.send({
      to: endpoint.target,
      subject: `Weir, ${severity}: ${subject}`,
      text: `${text}\n\n${act}\n\n-- \nAlert ${alert.id} of the kind ${alert.kind}, for the endpoint ${endpoint.id}.\n`,
      id,
    });
    return { type: 'DELIVERED', status: MAIL_TAKEN };
  } catch (error) {
    const { responseCode: status, code } = error as { responseCode?: number; code?: string };
    if (status === undefined) return refused('no_connection', 0, false);
    // Only a refused sender, receiver or text is for good. A wrong password is the operator's to repair.
    const isForGood = status >= MAIL_REFUSED && (code === 'EENVELOPE' || code === 'EMESSAGE');
    return refused('mail_refused', status, isForGood);
  }
}
