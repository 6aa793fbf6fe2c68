import { type Static, Type } from '@sinclair/typebox';
import { noteChange } from '../../../db/audit/log.ts';
import { findListedDelivery, listDeliveries, readAttempts } from '../../../db/webhooks/list.ts';
import { MAX_REDELIVERIES } from '../../actors/webhooks/redelivery.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { type Handler, json } from '../endpoint.ts';
import { DELIVERY_STATES, DeliveryRecordSchema, deliveryRecord } from './delivery-record.ts';
import { admitManager, type ManagementDeps } from './keys.ts';
import {
  choiceParameter,
  listAnswer,
  listSchema,
  nameParameter,
  PAGE_PARAMETERS,
  pageRequestOf,
  readQuery,
} from './list-query.ts';
import { requireWebhooks, type WebhookRouteDeps } from './webhooks.ts';

type Deps = ManagementDeps & WebhookRouteDeps;

const closed = { additionalProperties: false };

/** The answer of `GET /v1/management/webhook-deliveries`. */
export const DeliveryListSchema = listSchema(DeliveryRecordSchema);

/** `GET /v1/management/webhook-deliveries`. */
export const DeliveryQuerySchema = Type.Object(
  { state: choiceParameter(DELIVERY_STATES), task_id: nameParameter(), ...PAGE_PARAMETERS },
  closed,
);
const validateQuery = validator(DeliveryQuerySchema);
/** The id of a webhook: `msg_` and the id of its task. */
const DELIVERY_ID = /^msg_([A-Za-z0-9_-]{1,100})$/;

/**
 * `GET /v1/management/webhook-deliveries` and `POST …/{id}/redeliver`. Each query has the
 * organization in its condition, so a stranger's webhook answers exactly like a missing one (P6).
 */
export class WebhookDeliveries {
  constructor(private readonly deps: Deps) {}

  readonly list: Handler = async (context) => {
    const { organization_id } = await admitManager(this.deps, context);
    const query = readQuery(context.request, validateQuery);
    const request = pageRequestOf(query);
    const { sql } = requireWebhooks(this.deps);
    const page = await listDeliveries(sql, organization_id, query, request);
    const attempts = await readAttempts(sql, page.rows);
    const answer: Static<typeof DeliveryListSchema> = listAnswer(
      page,
      ({ task_id }) => task_id,
      (row) => deliveryRecord(row, attempts.get(row.task_id)),
    );
    return json(answer);
  };

  /** Sends a webhook again: with the same body, `webhook-id` and receiver, and a new signature. */
  readonly redeliver: Handler = async (context) => {
    const { organization_id, actor } = await admitManager(this.deps, context);
    const { sql, redeliveries } = requireWebhooks(this.deps);
    const [, task_id = ''] = DELIVERY_ID.exec(context.params['id'] ?? '') ?? [];
    const known = await findListedDelivery(sql, organization_id, task_id);
    if (known) {
      await noteChange(this.deps.sql, {
        ...{ organization_id, actor, action: 'webhook_delivery.redeliver' },
        ...{ subject_id: `msg_${task_id}`, before: { status: known.status }, after: null },
      });
    }
    const begun = await redeliveries.begin(task_id, organization_id);
    if (begun === 'exhausted') {
      throw new WeirError(
        'invalid_request',
        `The webhook was sent again ${MAX_REDELIVERIES} times, which is the most.`,
        { param: 'id', hint: `Read the task with GET /v1/management/tasks/${task_id}.` },
      );
    }
    if (begun === 'unavailable') {
      const message = 'This replica is not ready to serve requests.';
      throw new WeirError('service_unavailable', message, { retry_after: 2 });
    }
    const row = await findListedDelivery(sql, organization_id, task_id);
    if (begun === 'not_found' || !row) {
      throw new WeirError('not_found', 'There is no such webhook delivery.', { param: 'id' });
    }
    const attempts = await readAttempts(sql, [row]);
    return json(deliveryRecord(row, attempts.get(task_id)));
  };
}
