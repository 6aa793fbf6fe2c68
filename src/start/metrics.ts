import type { Bus } from '../actors/bus/bus.ts';
import type { Channels } from '../actors/channels/channels.ts';
import type { OwnKeys } from '../actors/channels/own-keys.ts';
import type { TransitionRecorder } from '../actors/channels/transition-recorder.ts';
import type { Audit } from '../actors/money/audit.ts';
import type { Lane } from '../actors/money/lane.ts';
import type { Quotas } from '../actors/money/quotas.ts';
import type { UnownedWatch } from '../actors/money/unowned.ts';
import type { Replica } from '../actors/replica.ts';
import type { CallRecords } from '../inference/records/call-records.ts';
import type { BodyBudget } from '../upstreams/transport/body-budget.ts';
import type { RunningTasks } from './tasks.ts';

/** The parts of a replica that are measured. */
interface MeasuredParts {
  readonly audit: Audit;
  readonly unowned: UnownedWatch;
  readonly replica: Replica;
  readonly lane: Lane;
  readonly durable: RunningTasks;
  readonly channels: Channels;
  readonly transitions: TransitionRecorder;
  readonly bus: Bus;
  readonly bodies: BodyBudget;
  readonly records: CallRecords;
  readonly quotas: Quotas;
  readonly own: OwnKeys;
  /** False while the configuration file has mistakes. */
  readonly isValid: () => boolean;
}

/** Returns the metrics of the actors of this replica. */
export function replicaMetrics(parts: MeasuredParts) {
  const { audit, unowned, replica, lane, durable, channels, transitions, bus, bodies } = parts;
  const { records, quotas, own, isValid } = parts;
  return [
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
      value: isValid() ? 1 : 0,
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
    {
      name: 'weir_byok_actors',
      help: 'Models on own keys of organizations whose health is in the memory of this replica.',
      value: own.size,
    },
    {
      ...{ name: 'weir_quota_actors', value: quotas.size },
      help: 'API keys in use on this replica, and their sets of tags with budgets.',
    },
  ];
}
