import type { Logger } from 'pino';
import type { OrganizationStatus } from '../../db/accounts/organizations.ts';
import { createDelivery } from '../../db/webhooks/deliveries.ts';
import { Channels } from '../actors/channels/channels.ts';
import { CircuitHints } from '../actors/channels/circuit-hints.ts';
import { OutcomeRecorder } from '../actors/channels/outcomes.ts';
import { RankingCache } from '../actors/channels/ranking.ts';
import { TransitionRecorder } from '../actors/channels/transition-recorder.ts';
import { systemClock, systemIdSource } from '../actors/clock.ts';
import type { ActorCommand } from '../actors/durable/command.ts';
import { InspectionFeed } from '../actors/durable/inspection.ts';
import { Audit } from '../actors/money/audit.ts';
import { Lane } from '../actors/money/lane.ts';
import { Quotas } from '../actors/money/quotas.ts';
import { UnownedWatch } from '../actors/money/unowned.ts';
import { UsageFolder } from '../actors/money/usage-folder.ts';
import { Replica } from '../actors/replica.ts';
import { WEBHOOK_KIND } from '../actors/webhooks/kind.ts';
import type { Environment } from '../config/environment.ts';
import { Batches } from '../inference/batches/batches.ts';
import { createItemCall } from '../inference/batches/item-call.ts';
import { batchKind } from '../inference/batches/kind.ts';
import { BatchWorker } from '../inference/batches/worker.ts';
import type { AnswerCache } from '../inference/cache/answer-cache.ts';
import { Inference } from '../inference/inference.ts';
import { KeyCache } from '../inference/keys/key-cache.ts';
import { Prober } from '../inference/probing/prober.ts';
import { CallRecords } from '../inference/records/call-records.ts';
import { RunningCalls } from '../inference/records/running-calls.ts';
import { UsageFeed } from '../inference/records/usage-feed.ts';
import type { BodyBudget } from '../upstreams/transport/body-budget.ts';
import { startAlerts } from './alerts.ts';
import { announceOver, subscribeActors } from './announcements.ts';
import { openBudgetedTags } from './budgeted-tags.ts';
import { createBus, moneyHintsOver } from './bus.ts';
import type { Databases } from './database.ts';
import type { Generation } from './generation.ts';
import { channelEvents, publishSums, quotaEvents, startInspection } from './inspection.ts';
import type { OpenInstallation } from './installation.ts';
import { startLimits } from './limits.ts';
import { logError } from './log.ts';
import { replicaMetrics } from './metrics.ts';
import { operatedChannels } from './operated-channels.ts';
import { catalogueWithOwn } from './own-catalogue.ts';
import { startOwnKeys } from './own-keys.ts';
import { subscribeParts } from './subscriptions.ts';
import { composeTasks, type RunningTasks } from './tasks.ts';
import { openWebhooks, webhookParts } from './webhooks.ts';

/**
 * Starts all parts of this replica that live longer than a request. Returns the parts that the
 * routes need, the metrics, and `stop`.
 */
export async function startActors(
  databases: Databases,
  installation: OpenInstallation & {
    readonly channel_keys: Uint8Array;
    /** Encrypts the own keys of organizations; 32 bytes. */
    readonly own_keys: Uint8Array;
    readonly cache: AnswerCache;
  },
  generation: Generation,
  bodies: BodyBudget,
  environment: Environment,
  log: Logger,
) {
  const onError = (error: unknown) => logError(log, error);
  const { live, channel_keys, own_keys } = installation;
  const { REDIS_URL: redis_url } = environment;
  const bus = await createBus({ databases, redis_url, replica_id: () => replica.id, log });
  const hints = moneyHintsOver(bus);
  const lane = new Lane({ sql: databases.lane.sql, clock: systemClock, hints, onError });
  let isStarted = false;
  const replica: Replica = new Replica({
    sql: databases.background.sql,
    connectHeartbeat: databases.connectHeartbeat,
    clock: systemClock,
    lane,
    exclusive: databases.exclusive,
    onFenced: () => {
      log.warn({ replica_id: replica.id }, 'this replica was declared dead and registered again');
      quotas.fence();
      durable.registry.onFenced();
    },
    // Before `isStarted`, no call is needed: at its start the registry reads all adopted actors.
    onAdopted: () => isStarted && durable.registry.onAdopted(),
    onError,
  });
  await replica.start();
  const feed = new InspectionFeed();
  const budgeted = openBudgetedTags(databases.background.sql);
  const quotas = new Quotas({
    budgeted: budgeted.tags,
    lane,
    clock: systemClock,
    ids: systemIdSource,
    replica_id: () => replica.id,
    mayAdmit: () => replica.isAlive(),
    onFenced: () => log.warn('a grant was closed by another replica'),
    ...{ onEvent: quotaEvents(feed), ring_events: environment.WEIR_ACTOR_EVENTS },
  });
  const stopSums = publishSums(feed, quotas, systemClock);
  const keys = new KeyCache(databases.requests.orm, Date.now);
  const outcomes = new OutcomeRecorder({
    sql: databases.background.sql,
    clock: systemClock,
    sceneOf: (model) => live.now.catalogue.find(model)?.category,
    onError,
  });
  const circuits = new CircuitHints({
    publish: (message) => bus.publish('circuit', message),
    replica_id: () => replica.id,
    now: systemClock.now,
  });
  const transitions = new TransitionRecorder({
    sql: databases.background.sql,
    clock: systemClock,
    ids: systemIdSource,
    replica_id: () => replica.id,
    onError,
  });
  const channels = new Channels(
    live.now.channels,
    systemClock,
    (transition) => {
      circuits.announce(transition);
      transitions.record(transition);
    },
    (channel_id, model, success) => outcomes.record(channel_id, model, success),
    channelEvents(feed),
    environment.WEIR_ACTOR_EVENTS,
  );
  live.onChange((now) => channels.configure(now.channels));
  const own = startOwnKeys(databases.background.sql, live, own_keys, log);
  const catalogue = catalogueWithOwn(live, own.keys);
  const prober = new Prober({
    channels,
    catalogue: () => live.now.catalogue,
    clock: systemClock,
    onError,
  });
  prober.start();
  const ranking = new RankingCache({
    sql: databases.background.sql,
    clock: systemClock,
    models: () => live.now.catalogue.all(),
    min_samples: () => live.now.min_samples,
    onError,
  });
  await ranking.start();
  const subscriptions = subscribeParts(bus, {
    database: databases.background,
    clock: systemClock,
    quotas,
    keys,
    channels,
    circuits,
    readOwnKeys: own.read,
    readBudgetedTags: budgeted.read,
    readChannels: operatedChannels(databases.background.sql, live, channel_keys, log),
    onError,
  });
  await bus.start();
  // Applies what operators did to channels before the bus started. The bus brings the later changes.
  await subscriptions.applyChannels();
  await subscriptions.applySwitches();
  await subscriptions.applyOwnKeys();
  await subscriptions.applyBudgetedTags();
  const { limits, stop: stopLimits } = await startLimits({
    ...{ sql: databases.background.sql, redis_url, exclusive: databases.exclusive, onError },
    replica_id: () => replica.id,
  });
  const inference = new Inference({
    ...{ quotas, limits },
    channels,
    own: own.keys,
    catalogue,
    now: systemClock.now,
    random: Math.random,
    rankOf: (model) => ranking.placeOf(model),
    cache: installation.cache,
    onError: (error, request_id) => logError(log, error, request_id),
  });
  const background = databases.background.sql;
  const records = new CallRecords({ sql: background, clock: systemClock, onError });
  const runningCalls = new RunningCalls({
    ...{ bus, running: records.running, clock: systemClock, ids: systemIdSource },
    replica_id: () => replica.id,
  });
  const inspection = startInspection({
    ...{ sql: databases.requests.sql, bus, clock: systemClock, ids: systemIdSource },
    ...{ feed, quotas, channels, replica_id: () => replica.id },
  });
  const setup = { environment, databases, generation };
  const { kind: webhooks, secrets } = openWebhooks(setup, () => durable.tasks);
  const batchWorker = new BatchWorker({
    sql: background,
    clock: systemClock,
    random: Math.random,
    mayRun: () => replica.isAlive(),
    call: createItemCall({
      keys,
      catalogue,
      inference: () => inference,
      onError: (error, request_id) => logError(log, error, request_id),
      records,
      bodies,
    }),
  });
  const durable: RunningTasks = composeTasks({
    ...generation.parts,
    limits,
    budgeted: budgeted.tags,
    kinds: [webhooks, batchKind(background, batchWorker)],
    bodies,
    retention: {
      circuit_days: environment.WEIR_CIRCUIT_HISTORY_DAYS,
      record_days: environment.WEIR_CALL_RECORD_DAYS,
      line_days: environment.WEIR_USAGE_LINE_DAYS,
      onRemoved: (removed) => log.info({ removed }, 'rows of a month were removed'),
    },
    async announce(task_id) {
      const delivery = await createDelivery(background, task_id);
      if (!delivery) return;
      await durable.send({
        kind: WEBHOOK_KIND,
        id: task_id,
        event: { type: 'ANNOUNCED' },
        create: true,
        organization_id: delivery.organization_id,
      });
    },
    requests: databases.requests.sql,
    durable: databases.durable.sql,
    background: databases.background.sql,
    feed,
    announceEvents: announceOver(bus, () => replica.id),
    clock: systemClock,
    ids: systemIdSource,
    random: Math.random,
    hints,
    channels,
    ...{ own: own.keys, fee_ppm: () => live.now.own_key_fee_ppm },
    catalogue,
    replica,
    onError: (error, task_id) => logError(log, error, task_id),
  });
  subscribeActors(bus, durable.registry, () => replica.id);
  durable.start();
  isStarted = true;
  const audit = new Audit({
    sql: databases.background.sql,
    clock: systemClock,
    onImbalance: (imbalances) =>
      log.error({ imbalances }, 'the audit found imbalances in the ledger'),
    onError,
  });
  const unowned = new UnownedWatch({
    sql: databases.background.sql,
    clock: systemClock,
    lane,
    replica_id: () => replica.id,
    known: () => quotas.heldByMemory(),
    onFound: (found) =>
      log.error({ unowned: found }, 'grants or holds have no living owner, or wrong sums'),
    onError,
  });
  const folder = new UsageFolder({ sql: background, clock: systemClock, onError });
  folder.start();
  const send = (command: ActorCommand) => durable.send(command);
  const alerts = startAlerts(setup, { mayRun: () => replica.isAlive(), send, onError });
  return {
    bus,
    catalogue,
    replica,
    keys,
    ranking: () => ranking.latest,
    inference,
    records,
    runningCalls,
    inspection,
    feed: new UsageFeed({
      ...{ sql: databases.requests.sql, running: runningCalls, clock: systemClock, onError },
    }),
    tasks: durable.tasks,
    batches: new Batches({ sql: databases.requests.sql, ids: systemIdSource, send }),
    send,
    operator: {
      ...{ sql: databases.requests.sql, audit, channels, prober },
      replica_id: () => replica.id,
      announceSwitch: (channel_id: string) => bus.publish('switch', { channel_id }),
      applySwitches: subscriptions.applySwitches,
      ...{ installation: live, channel_keys },
      announceChannels: () => bus.publish('channels', {}),
      applyChannels: subscriptions.applyChannels,
    },
    ownKeys: {
      ...{ secret: own_keys, keys: own.keys, apply: own.read, installation: live },
      announce: (organization_id: string) => bus.publish('own_keys', { organization_id }),
    },
    budgetedTags: {
      apply: budgeted.read,
      announce: (organization_id: string) => bus.publish('tag_budgets', { organization_id }),
    },
    webhooks: webhookParts(setup, secrets, send),
    alerts: alerts.parts,
    organizationNews: {
      announce: (organization_id: string) => bus.publish('organization', { organization_id }),
      onChanged: (id: string, status: OrganizationStatus) =>
        quotas.onOrganizationChanged(id, status),
      money: hints,
    },
    announceKey: (key_id: string) => bus.publish('key', { key_id }),
    onKeyChanged: (id: string, status: 'active' | 'inactive' | 'suspended' | 'revoked') =>
      quotas.onKeyChanged(id, status),
    metrics: () =>
      replicaMetrics({
        ...{ audit, unowned, replica, lane, durable, channels, transitions, bus, bodies, records },
        ...{ quotas, own: own.keys, isValid: () => installation.isValid() },
      }),
    /** Starts no more items of batches, so that the calls of this replica come to an end. */
    stopBatches: () => batchWorker.stop(),
    async stop() {
      await audit.stop();
      await folder.stop();
      await alerts.stop();
      await unowned.stop();
      await ranking.stop();
      await prober.stop();
      batchWorker.stop();
      runningCalls.stop();
      inspection.stop();
      await records.stop();
      stopSums();
      stopLimits();
      await durable.stop();
      await outcomes.stop();
      await own.stop();
      await transitions.stop();
      // A grant is closed only after the last charge of its calls.
      await lane.drain();
      await quotas.close();
      await lane.drain();
      subscriptions.stop();
      await bus.stop();
      await replica.stop();
    },
  };
}
