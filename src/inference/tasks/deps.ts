import type { Sql } from 'postgres';
import type { TaskWorkRow } from '../../../db/tasks/rows.ts';
import type { ChannelActor } from '../../actors/channels/channel.ts';
import type { Channels } from '../../actors/channels/channels.ts';
import type { OwnKeys } from '../../actors/channels/own-keys.ts';
import type { CatalogueFor, GenerationModel } from '../../catalogue/catalogue.ts';
import type { GenerationInput } from '../../catalogue/inputs.ts';
import { isOwnChannel } from '../../config/own-key-rows.ts';
import type { GenerationUsage } from '../../protocols/generation-usage.ts';
import { targetOf, type UpstreamTarget } from '../../upstreams/contract.ts';
import type {
  GenerationProtocol,
  UpstreamJob,
  UpstreamOutput,
} from '../../upstreams/generation/contract.ts';
import { type BodyBudget, BytesInFlight } from '../../upstreams/transport/body-budget.ts';

/** Storage of results. */
export interface ResultStorage {
  /** Stores a file; an existing file of the same name is replaced. */
  put(name: string, bytes: Blob | ReadableStream | Uint8Array, content_type: string): Promise<void>;
}

/** The address has no result and will never have one. It must not be fetched again. */
export class ResultMissingError extends Error {
  override readonly name = 'ResultMissingError';
}

/**
 * Fetches a result from a public address. Size and time are limited. Throws ResultMissingError if
 * another attempt would fail in the same way.
 */
export type FetchResult = (
  url: string,
  options: {
    readonly headers: Record<string, string>;
    readonly signal: AbortSignal;
    /** True if the account of a tenant named the address. Then no internal host is allowed for it. */
    readonly is_own?: boolean;
  },
) => Promise<{ readonly stream: ReadableStream; readonly content_type: string }>;

/** Dependencies of the effects of a task. */
export interface TaskEffectDeps {
  readonly sql: Sql;
  readonly channels: Channels;
  /** The own keys of organizations. Without it, nobody has any. */
  readonly own?: Pick<OwnKeys, 'serving' | 'find' | 'modeOf'> | undefined;
  /** What a task on an own key costs, in millionths of the list price. */
  readonly fee_ppm?: (() => number) | undefined;
  readonly catalogue: CatalogueFor;
  /** Maps the name of a protocol in a channel's configuration to the code of the protocol. */
  readonly protocols: Readonly<Record<string, GenerationProtocol | undefined>>;
  readonly storage: ResultStorage;
  readonly fetchResult: FetchResult;
  /** Limits the total bytes of all clients' bodies and upstreams' answers in memory. */
  readonly bodies: BodyBudget;
  /**
   * Starts to send the webhook of a task that has ended, if the task has one. A repeated call is
   * harmless.
   */
  readonly announce: (task_id: string) => Promise<void>;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  /** Returns a random number, 0 ≤ x < 1. */
  readonly random: () => number;
  /** Receives errors that are not shown to the client. Must not throw. */
  readonly onError: (error: unknown, task_id: string) => void;
}

/** The upstream's job as the task's row keeps it. */
interface TaskJob extends UpstreamJob {
  /** Present while the upstream says that it has no such job. Only the database reads its content. */
  readonly missing?: object;
}

/** A task as the effects see it. */
export interface TaskWork extends Omit<TaskWorkRow, 'input' | 'job' | 'produced'> {
  readonly input: GenerationInput;
  readonly job: TaskJob | null;
  readonly produced: ProducedRecord | null;
}

/**
 * What the upstream made, as the task's row keeps it. If the upstream sent bytes, they are already
 * in the storage.
 */
export interface ProducedRecord {
  readonly outputs: readonly ProducedOutput[];
  readonly usage: GenerationUsage;
}

/** One output of a `ProducedRecord`. */
export type ProducedOutput = Omit<UpstreamOutput, 'base64'> & {
  /** Name of the file in the storage. */
  readonly file?: string;
};

/** Returns a task's row with typed JSON columns. The content of the columns is not checked. */
export const workOf = (row: TaskWorkRow): TaskWork => row as unknown as TaskWork;

/** A channel that is configured for a model, and what a call over this channel needs. */
export interface Route {
  readonly channel: ChannelActor;
  readonly protocol: GenerationProtocol;
  readonly target: UpstreamTarget;
  readonly physical_model: string;
}

/**
 * Returns the route over a channel. Returns undefined if the channel is undefined, if its
 * configuration lacks the model, or if its protocol is not for generations. The state of the
 * channel is not checked.
 */
export function routeOver(
  deps: Pick<TaskEffectDeps, 'protocols'>,
  channel: ChannelActor | undefined,
  model: string,
): Route | undefined {
  if (!channel) return undefined;
  const { config } = channel;
  const protocol = deps.protocols[config.protocol];
  const physical_model = config.models[model];
  if (!protocol || physical_model === undefined) return undefined;
  return { channel, protocol, target: targetOf(config), physical_model };
}

/** Returns the channel of the task's latest submission, whose model may have been removed from it. */
export function channelOf(
  { channels, own }: Pick<TaskEffectDeps, 'channels' | 'own'>,
  { organization_id, channel_id, model }: TaskWork,
): ChannelActor | undefined {
  if (channel_id === null || !isOwnChannel(channel_id)) return channels.find(channel_id, model);
  return own?.find(organization_id, channel_id, model);
}

/**
 * Returns the route over the channel of the task's latest submission; undefined if that route no
 * longer exists.
 */
export function routeOfSubmission(deps: TaskEffectDeps, work: TaskWork): Route | undefined {
  return routeOver(deps, channelOf(deps, work), work.model);
}

/**
 * Runs `step` with a count of the bytes that it holds in memory for the task's key. When `step` has
 * ended, these bytes are no longer counted.
 */
export async function withBytes<Result>(
  deps: TaskEffectDeps,
  work: TaskWork,
  step: (bytes: BytesInFlight) => Promise<Result>,
): Promise<Result> {
  const bytes = new BytesInFlight(deps.bodies).of(work.key_id);
  try {
    return await step(bytes);
  } finally {
    bytes.end();
  }
}

/** Returns the model of a task; undefined if it was removed from the catalogue. */
export function modelOf(deps: TaskEffectDeps, work: TaskWork): GenerationModel | undefined {
  const model = deps.catalogue(work.organization_id).find(work.model);
  return model?.kind === 'generation' ? model : undefined;
}
