import { insertAlerts } from '../../../db/alerts/alerts.ts';
import { listQueued } from '../../../db/alerts/deliveries.ts';
import { takeTurn } from '../../../db/alerts/turns.ts';
import type { Sql, TransactionSql } from '../../../db/client.ts';
import type { WebhookEvent } from '../../machines/webhook.ts';
import type { Clock } from '../clock.ts';
import type { ActorCommand, CommandResult } from '../durable/command.ts';
import { WEBHOOK_KIND } from '../webhooks/kind.ts';
import { RULES } from './rules.ts';

/** How many deliveries one round starts. The others start in the next rounds. */
const MAX_STARTED = 200;
/** The longest time of the statements of one rule, ms. */
const STATEMENT_TIMEOUT_MS = 30_000;
/** A round may come this part of an interval early. Otherwise a timer that fires a bit earlier than the last skips it. */
const EARLY = 0.5;

export interface AlertEvaluatorDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  /** The pause between two evaluations of a rule, ms. */
  readonly interval_ms: number;
  /** False while this replica may not write. */
  readonly mayRun: () => boolean;
  readonly send: (command: ActorCommand) => Promise<CommandResult>;
  readonly onError: (error: unknown) => void;
}

/**
 * Looks at intervals for causes of alerts, and starts the deliveries. Calls never wait for it. Each replica runs one;
 * a row for each rule decides which of them evaluates the rule now (docs/decisions/alerts.md).
 */
export class AlertEvaluator {
  private stopClock: () => void = () => undefined;
  private running: Promise<void> | undefined;
  private isStopped = false;

  constructor(private readonly deps: AlertEvaluatorDeps) {}

  start(): void {
    this.schedule();
  }

  /** Waits for the running round, and starts no other one. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.stopClock();
    await this.running;
  }

  /** Evaluates the rules that are due, and starts the deliveries that wait. An error of one rule stops no other. */
  async run(): Promise<void> {
    for (const { name, kind, every, find } of RULES) {
      if (this.isStopped || !this.deps.mayRun()) return;
      const evaluate = async (tx: TransactionSql) => {
        await tx.unsafe(`set local statement_timeout = ${STATEMENT_TIMEOUT_MS}`);
        if (!(await takeTurn(tx, name, (every - EARLY) * this.deps.interval_ms))) return;
        await insertAlerts(tx, kind, await find(tx));
      };
      await this.deps.sql.begin(evaluate).catch(this.deps.onError);
    }
    await this.startQueued();
  }

  /**
   * Creates the actors of deliveries that have none, also of those whose replica died after it had committed the
   * alert. If two replicas create the same actor, the second command changes nothing.
   */
  async startQueued(): Promise<void> {
    if (!this.deps.mayRun()) return;
    const queued = await listQueued(this.deps.sql, MAX_STARTED);
    await Promise.all(queued.map(({ id, owner_id }) => this.startDelivery(id, owner_id)));
  }

  /** Creates the actor of one delivery. */
  async startDelivery(id: string, owner_id: string): Promise<void> {
    await this.deps.send({
      ...{ kind: WEBHOOK_KIND, id, create: true },
      event: { type: 'ANNOUNCED' } satisfies WebhookEvent,
      ...(owner_id === '' ? {} : { organization_id: owner_id }),
    });
  }

  private schedule(): void {
    if (this.isStopped) return;
    this.stopClock = this.deps.clock.after(this.deps.interval_ms, () => {
      this.running = this.run()
        .catch(this.deps.onError)
        .finally(() => this.schedule());
    });
  }
}
