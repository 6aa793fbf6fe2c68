import type { PastCircuit } from '../../../db/channels/transitions.ts';
import type { PastCallRow, PastCalls } from '../../../db/usage/past-calls.ts';
import { requestIdOf } from '../../errors/request-id.ts';
import type { RunningCallList } from '../../inference/records/running-calls.ts';
import { usd } from '../../json/usd.ts';

/** A call at an instant while it ran. */
interface Flight {
  readonly request_id: string;
  readonly key_id: string;
  readonly organization_id: string;
  readonly stage: string;
  readonly age_ms: number;
  readonly scene: string;
  readonly model: string;
  /** The channel that had the call; '' before the first attempt. Internal: for operators only (P5). */
  readonly channel_id: string;
  /** The money that the call holds, nano-USD. Records of calls do not have it. */
  readonly held_nano_usd: number | null;
  /** What the call was charged later, nano-USD; null while it runs. */
  readonly charged_nano_usd: number | null;
}

/** The calls of one instant. */
interface Flights {
  readonly flights: readonly Flight[];
  readonly total: number;
  readonly silent_replicas: number;
}

/** Returns the calls that run now. */
export function flightsOf({ calls, total, silent_replicas }: RunningCallList): Flights {
  const flights = calls.map((call) => {
    const { request_id, organization_id, stage, age_ms, scene, model, held_nano_usd } = call;
    return {
      ...{ request_id, key_id: call.api_key_id, organization_id, stage, age_ms, scene, model },
      ...{ channel_id: call.channel_id, held_nano_usd, charged_nano_usd: null },
    };
  });
  return { flights, total, silent_replicas };
}

/** Returns the calls that ran at an instant: those that have ended, and those that run still (`now`). */
export function flightsOfPast({ calls, total }: PastCalls, at: Date, now: Flights): Flights {
  const ended = calls.map((call) => flightAt(call, at));
  const known = new Set(ended.map(({ request_id }) => request_id));
  const since_ms = Date.now() - at.getTime();
  const running = now.flights
    .filter(({ request_id, age_ms }) => age_ms >= since_ms && !known.has(request_id))
    .map((flight) => ({ ...flight, age_ms: flight.age_ms - since_ms }));
  const flights = [...ended, ...running].toSorted((a, b) => b.age_ms - a.age_ms);
  return { flights, total: total + running.length, silent_replicas: now.silent_replicas };
}

function flightAt(call: PastCallRow, at: Date): Flight {
  const { key_id, organization_id, scene, model, charged_nano_usd } = call;
  // The date of a call is when its money was reserved, or its arrival if none was.
  const age_ms = at.getTime() - call.at.getTime() + Math.round((call.reserved_us ?? 0) / 1_000);
  const attempt = call.detail?.attempts?.findLast(({ started_ms }) => started_ms <= age_ms);
  const stage = stageAt(call, age_ms, attempt !== undefined);
  const isRouted = stage === 'calling' || stage === 'answering';
  return {
    ...{ request_id: requestIdOf(call.id), key_id, organization_id, scene, model, stage, age_ms },
    channel_id: isRouted ? (attempt?.channel_id ?? call.channel_id) : '',
    ...{ held_nano_usd: null, charged_nano_usd },
  };
}

/** The stage that the call had then, as `GET …/calls` names them. */
function stageAt(call: PastCallRow, age_ms: number, has_attempt: boolean): string {
  const { reserved_us, routed_us, first_token_ms, task_id } = call;
  if (first_token_ms !== null && age_ms >= first_token_ms) return 'answering';
  if (has_attempt || (routed_us !== null && age_ms >= routed_us / 1_000)) return 'calling';
  if (reserved_us === null) return 'admitting';
  // The record of a task has its channel, and not when the channel took it.
  return task_id === null ? 'reserved' : 'calling';
}

/** The states of a circuit, the worst one last. */
const STATES = ['healthy', 'degraded', 'probing', 'open', 'disabled'];

/** Returns the worst state of each model of a channel over all replicas. */
export function worstCircuits(circuits: readonly PastCircuit[]): ReadonlyMap<string, string> {
  const worst = new Map<string, string>();
  for (const { channel_id, model, state } of circuits) {
    const name = `${channel_id}/${model}`;
    const before = worst.get(name) ?? 'healthy';
    worst.set(name, STATES.indexOf(state) > STATES.indexOf(before) ? state : before);
  }
  return worst;
}

/** Returns a call as its viewer sees it: nothing names a channel to an organization (P5). Amounts are in USD. */
export function shownFlight(
  flight: Flight,
  is_operator: boolean,
  circuits: ReadonlyMap<string, string>,
) {
  const { request_id, key_id, stage, age_ms, scene, model, organization_id, channel_id } = flight;
  const { held_nano_usd, charged_nano_usd } = flight;
  const amount = (nano: number | null) => (nano === null ? null : usd(nano));
  return {
    object: 'call_in_flight' as const,
    ...{ request_id, api_key_id: key_id, stage, age_ms },
    ...{ scene: scene || null, logical_model: model || null },
    ...{ held: amount(held_nano_usd), charged: amount(charged_nano_usd) },
    ...(is_operator
      ? {
          organization_id,
          channel_id: channel_id || null,
          circuit: channel_id ? (circuits.get(`${channel_id}/${model}`) ?? 'healthy') : null,
        }
      : {}),
  };
}
