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
import { WEBHOOK_KIND, webhookKind } from '../actors/webhooks/kind.ts';
import { Redeliveries } from '../actors/webhooks/redelivery.ts';
import { WebhookSecrets } from '../actors/webhooks/secrets.ts';
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
import { guardedFetch } from '../storage/guarded-fetch.ts';
import type { BodyBudget } from '../upstreams/transport/body-budget.ts';
import { announceOver, subscribeActors } from './announcements.ts';
import { createBus, moneyHintsOver } from './bus.ts';
import type { Databases } from './database.ts';
import type { Generation } from './generation.ts';
import { channelEvents, publishSums, quotaEvents, startInspection } from './inspection.ts';
import type { OpenInstallation } from './installation.ts';
import { logError } from './log.ts';
import { operatedChannels } from './operated-channels.ts';
import { subscribeParts } from './subscriptions.ts';
import { composeTasks, type RunningTasks } from './tasks.ts';
import { webhookPayload } from './webhook-payload.ts';

/**
 * Starts all parts of this replica that live longer than a request. Returns the parts that the
 * routes need, the metrics, and `stop`.
 */
export async function startActors(
  databases: Databases,
  installation: OpenInstallation & {
    readonly channel_keys: Uint8Array;
    readonly cache: AnswerCache;
  },
  generation: Generation,
  bodies: BodyBudget,
  environment: Environment,
  log: Logger,
) {
  const onError = (error: unknown) => logError(log, error);
  const { live, channel_keys } = installation;
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
  const quotas = new Quotas({
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
    readChannels: operatedChannels(databases.background.sql, live, channel_keys, log),
    onError,
  });
  await bus.start();
  // Applies what operators did to channels before the bus started. The bus brings the later changes.
  await subscriptions.applyChannels();
  await subscriptions.applySwitches();
  const inference = new Inference({
    quotas,
    channels,
    catalogue: () => live.now.catalogue,
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
  const secrets = new WebhookSecrets(background, generation.webhook_key);
  const webhooks = webhookKind({
    sql: background,
    secretOf: (organization_id) => secrets.getOrCreate(organization_id),
    payloadOf: (task_id, organization_id) =>
      webhookPayload(durable.tasks, generation.ports, task_id, organization_id),
    fetch: guardedFetch,
    allow_hosts: generation.webhook_hosts,
    now: systemClock.now,
  });
  const batchWorker = new BatchWorker({
    sql: background,
    clock: systemClock,
    random: Math.random,
    mayRun: () => replica.isAlive(),
    call: createItemCall({
      keys,
      catalogue: () => live.now.catalogue,
      inference: () => inference,
      onError: (error, request_id) => logError(log, error, request_id),
      records,
      bodies,
    }),
  });
  const durable: RunningTasks = composeTasks({
    ...generation.parts,
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
    catalogue: () => live.now.catalogue,
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
  return {
    bus,
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
    webhooks: {
      sql: databases.requests.sql,
      secrets,
      redeliveries: new Redeliveries({ sql: databases.requests.sql, send }),
    },
    organizationNews: {
      announce: (organization_id: string) => bus.publish('organization', { organization_id }),
      onChanged: (id: string, status: OrganizationStatus) =>
        quotas.onOrganizationChanged(id, status),
      money: hints,
    },
    announceKey: (key_id: string) => bus.publish('key', { key_id }),
    onKeyChanged: (id: string, status: 'active' | 'inactive' | 'suspended' | 'revoked') =>
      quotas.find(id)?.onKeyChanged(status),
    metrics: () => [
      {
        name: 'weir_ledger_imbalances',
        help: 'Organizations, keys, grants and holds whose sums do not match; must be 0.',
        value: audit.imbalances,
      },
      {
        name: 'weir_money_unowned',
        help: 'Grants and holds without a living owner, and grants unlike their quota actor; must be 0.',
        value: unowned.unowned,
      },
      {
        name: 'weir_replica_fenced_total',
        help: 'How often other replicas declared this process dead, so that it registered again.',
        value: replica.fenced,
      },
      {
        name: 'weir_lease_lapses_total',
        help: 'How often this replica renewed its lease so late that it had stopped admitting calls.',
        value: replica.lapses,
      },
      {
        name: 'weir_lane_depth',
        help: 'Ledger commands in the queue of the lane, without those of the running transaction.',
        value: lane.depth,
      },
      {
        name: 'weir_effects_running',
        help: 'Effects of durable actors that run, or whose reports wait for their commit.',
        value: durable.outbox.size,
      },
      {
        name: 'weir_configuration_valid',
        help: '0 while the configuration file has mistakes and the previous configuration is in use.',
        value: installation.isValid() ? 1 : 0,
      },
      {
        name: 'weir_channels_not_healthy',
        help: 'Channels of this replica whose models are not all healthy.',
        value: [...channels.verdicts().values()].filter((state) => state !== 'healthy').length,
      },
      {
        name: 'weir_circuit_changes_dropped_total',
        help: 'Changes of circuits that are missing in the history, because they could not be stored.',
        value: transitions.dropped,
      },
      {
        name: 'weir_event_streams',
        help: 'Open event streams of tasks on this replica.',
        value: durable.tasks.watches.size,
      },
      ...['task', 'batch', 'webhook'].map((kind) => ({
        name: 'weir_resident_actors',
        labels: { kind },
        help: 'Live actors in the memory of this replica.',
        value: durable.registry.countsByKind().get(kind) ?? 0,
      })),
      {
        name: 'weir_bus_gaps_total',
        help: 'How often messages of other replicas may have been lost, so that rows were read again.',
        value: bus.gaps,
      },
      {
        name: 'weir_bus_peers',
        help: 'Other replicas whose heartbeats arrive.',
        value: bus.peerCount,
      },
      {
        name: 'weir_body_bytes',
        help: 'Bytes of the bodies and answers of all requests in flight on this replica.',
        value: bodies.bytes,
      },
      {
        name: 'weir_call_records_dropped_total',
        help: 'Records of calls without a charge that were lost, because the database was away.',
        value: records.dropped,
      },
      { name: 'weir_quota_actors', help: 'API keys in use on this replica.', value: quotas.size },
    ],
    /** Starts no more items of batches, so that the calls of this replica come to an end. */
    stopBatches: () => batchWorker.stop(),
    async stop() {
      await audit.stop();
      await folder.stop();
      await unowned.stop();
      await ranking.stop();
      await prober.stop();
      batchWorker.stop();
      runningCalls.stop();
      inspection.stop();
      await records.stop();
      stopSums();
      await durable.stop();
      await outcomes.stop();
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
