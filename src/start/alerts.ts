import { beginAlertRedelivery, findAlertDelivery } from '../../db/alerts/deliveries.ts';
import { alertDeliveries } from '../actors/alerts/delivery.ts';
import { AlertEvaluator } from '../actors/alerts/evaluator.ts';
import { systemClock } from '../actors/clock.ts';
import type { ActorCommand, CommandResult } from '../actors/durable/command.ts';
import type { OtherDeliveries } from '../actors/webhooks/kind.ts';
import { Redeliveries } from '../actors/webhooks/redelivery.ts';
import type { Environment } from '../config/environment.ts';
import type { AlertParts } from '../http/alerts/owner.ts';
import { guardedFetch } from '../storage/guarded-fetch.ts';
import type { Databases } from './database.ts';
import type { Generation } from './generation.ts';
import { mailerOf } from './people.ts';

const MS_PER_S = 1_000;

/** What alerts need from this process. */
export interface AlertSetup {
  readonly environment: Environment;
  readonly databases: Databases;
  readonly generation: Pick<Generation, 'webhook_key' | 'webhook_hosts'>;
}

/** Returns the part of the webhook actors that delivers alerts. */
export function openAlerts({ environment, databases, generation }: AlertSetup): OtherDeliveries {
  return alertDeliveries({
    sql: databases.background.sql,
    secret_key: generation.webhook_key,
    mailer: mailerOf(environment),
    fetch: guardedFetch,
    allow_hosts: generation.webhook_hosts,
    now: systemClock.now,
  });
}

/** Starts the evaluation of alerts. Returns what the routes need, and `stop`. */
export function startAlerts(
  { environment, databases, generation }: AlertSetup,
  runtime: {
    readonly mayRun: () => boolean;
    readonly send: (command: ActorCommand) => Promise<CommandResult>;
    readonly onError: (error: unknown) => void;
  },
): { readonly parts: AlertParts; stop(): Promise<void> } {
  const { sql } = databases.requests;
  const evaluator = new AlertEvaluator({
    ...{ ...runtime, sql: databases.background.sql, clock: systemClock },
    interval_ms: environment.WEIR_ALERT_INTERVAL_S * MS_PER_S,
  });
  evaluator.start();
  return {
    parts: {
      ...{ sql, secret_key: generation.webhook_key, allow_hosts: generation.webhook_hosts },
      has_mail: environment.WEIR_SMTP_URL !== undefined,
      redeliveries: new Redeliveries({
        find: (owner_id, id) => findAlertDelivery(sql, owner_id, id),
        write: beginAlertRedelivery,
        send: runtime.send,
      }),
      startDelivery: (id, owner_id) => evaluator.startDelivery(id, owner_id),
    },
    stop: () => evaluator.stop(),
  };
}
