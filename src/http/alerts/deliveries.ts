import {
  type AlertDeliveryRow,
  countTests,
  findAlertDelivery,
  insertTest,
  listAlertDeliveries,
} from '../../../db/alerts/deliveries.ts';
import { appendAudit, noteChange } from '../../../db/audit/log.ts';
import { readAttempts } from '../../../db/webhooks/list.ts';
import { MAX_REDELIVERIES } from '../../actors/webhooks/redelivery.ts';
import { type Validator, validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { type Handler, json } from '../endpoint.ts';
import { changeOnce } from '../management/change-once.ts';
import { listAnswer, pageRequestOf, readQuery } from '../management/list-query.ts';
import { requireEndpoint } from './endpoints.ts';
import {
  type Admit,
  type AlertOwner,
  type AlertParts,
  type AlertRouteDeps,
  auditedOwner,
  idOf,
  requireAlerts,
} from './owner.ts';
import { alertDeliveryRecord } from './records.ts';
import type { AlertSchemas } from './schema.ts';

/** The most tests of all endpoints of an owner in an hour, so that nobody sends mails to strangers with them. */
const MAX_TESTS_AN_HOUR = 30;
const RETRY_AFTER_S = 600;
/** How long the answer of a test waits for the first attempt, ms. */
const TEST_WAIT_MS = 5_000;
const TEST_POLL_MS = 100;

/**
 * The routes of the deliveries of an owner, and the test of an endpoint. A stranger's delivery answers exactly like a
 * missing one (P6).
 */
export class AlertDeliveryRoutes {
  private readonly validateList: Validator<AlertSchemas['deliveries']>;

  constructor(
    private readonly deps: AlertRouteDeps,
    private readonly admit: Admit,
    schemas: AlertSchemas,
  ) {
    this.validateList = validator(schemas.deliveries);
  }

  /** `GET …/alert-deliveries` */
  readonly list: Handler = async (context) => {
    const { owner_id } = await this.admit(context);
    const query = readQuery(context.request, this.validateList);
    const { sql } = requireAlerts(this.deps);
    const page = await listAlertDeliveries(sql, owner_id, query, pageRequestOf(query));
    const attempts = await readAttempts(sql, page.rows.map(asDelivery));
    return json(
      listAnswer(
        page,
        ({ id }) => id,
        (row) => alertDeliveryRecord(row, attempts.get(row.id)),
      ),
    );
  };

  /**
   * `POST …/alert-endpoints/{id}/test`. Sends an alert of the kind `test` to the endpoint, and answers when its first
   * attempt has ended, or after 5 seconds.
   */
  readonly test: Handler = async (context) => {
    const owner = await this.admit(context);
    const alerts = requireAlerts(this.deps);
    const { actor, owner_id } = owner;
    const organization_id = auditedOwner(owner);
    const request = { organization_id, actor_id: actor.id, route: 'alert_endpoint.test', body: '' };
    const committed = await changeOnce(this.deps, context, request, async (tx) => {
      const endpoint = await requireEndpoint(tx, context, owner);
      if ((await countTests(tx, owner_id)) >= MAX_TESTS_AN_HOUR) throw tooManyTests();
      const id = await insertTest(tx, endpoint);
      await appendAudit(tx, {
        ...{ organization_id, actor, action: 'alert_endpoint.test', subject_id: endpoint.id },
        ...{ before: null, after: null },
      });
      return json({ id });
    });
    const { id } = (await committed.json()) as { id: string };
    await alerts.startDelivery(id, owner_id);
    const answer = await this.answer(await this.firstAttempt(alerts, owner, id));
    // A repeat tests nothing. It shows how far the first test is.
    const replayed = committed.headers.get('idempotent-replayed');
    if (replayed !== null) answer.headers.set('idempotent-replayed', replayed);
    return answer;
  };

  /** `POST …/alert-deliveries/{id}/redeliver`: the same body and `webhook-id`, and a new signature. */
  readonly redeliver: Handler = async (context) => {
    const owner = await this.admit(context);
    const { owner_id, actor } = owner;
    const { sql, redeliveries } = requireAlerts(this.deps);
    const id = idOf(context);
    const known = await findAlertDelivery(sql, owner_id, id);
    if (known) {
      await noteChange(this.deps.sql, {
        ...{ organization_id: auditedOwner(owner), actor, action: 'alert_delivery.redeliver' },
        ...{ subject_id: id, before: { status: known.status }, after: null },
      });
    }
    const begun = await redeliveries.begin(id, owner_id);
    if (begun === 'exhausted') {
      const message = `The alert was sent again ${MAX_REDELIVERIES} times, which is the most.`;
      throw new WeirError('invalid_request', message, { param: 'id' });
    }
    if (begun === 'unavailable') {
      const message = 'This replica is not ready to serve requests.';
      throw new WeirError('service_unavailable', message, { retry_after: 2 });
    }
    return this.answer(await findAlertDelivery(sql, owner_id, id));
  };

  /** Waits until a delivery has ended or made an attempt. */
  private async firstAttempt({ sql }: AlertParts, { owner_id }: AlertOwner, id: string) {
    const until = performance.now() + TEST_WAIT_MS;
    for (;;) {
      const row = await findAlertDelivery(sql, owner_id, id);
      if (!row || row.attempts > 0 || performance.now() >= until) return row;
      await Bun.sleep(TEST_POLL_MS);
    }
  }

  private async answer(row: AlertDeliveryRow | undefined): Promise<Response> {
    if (!row) throw new WeirError('not_found', 'There is no such alert delivery.', { param: 'id' });
    const attempts = await readAttempts(requireAlerts(this.deps).sql, [asDelivery(row)]);
    return json(alertDeliveryRecord(row, attempts.get(row.id)));
  }
}

/** The actors of an alert's delivery have names like those of a task's webhook. */
const asDelivery = ({ id, redeliveries }: AlertDeliveryRow) => ({ task_id: id, redeliveries });

function tooManyTests(): WeirError {
  const message = `There were ${MAX_TESTS_AN_HOUR} tests in the last hour, which is the most.`;
  return new WeirError('rate_limit_exceeded', message, { retry_after: RETRY_AFTER_S });
}
