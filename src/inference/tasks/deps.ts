import type { Sql } from 'postgres';
import type { TaskWorkRow } from '../../../db/tasks/rows.ts';
import type { ChannelActor } from '../../actors/channels/channel.ts';
import type { Channels } from '../../actors/channels/channels.ts';
import type { Catalogue, GenerationModel } from '../../catalogue/catalogue.ts';
import type { GenerationInput } from '../../catalogue/inputs.ts';
import type { GenerationUsage } from '../../protocols/generation-usage.ts';
import type { UpstreamTarget } from '../../upstreams/contract.ts';
import type {
  GenerationProtocol,
  UpstreamJob,
  UpstreamOutput,
} from '../../upstreams/generation/contract.ts';

/** Where results are kept. */
export interface ResultStorage {
  put(name: string, bytes: Blob | ReadableStream | Uint8Array, content_type: string): Promise<void>;
}

/** There is no result at this address, and there will be none: asking there again is in vain. */
export class ResultMissingError extends Error {
  override readonly name = 'NoResultThereError';
}

/**
 * Fetches a result by its address: public ones only, bounded in size and time. Throws
 * NoResultThereError where another attempt would end alike.
 */
export type FetchOutput = (
  url: string,
  options: { readonly headers: Record<string, string>; readonly signal: AbortSignal },
) => Promise<{ readonly stream: ReadableStream; readonly content_type: string }>;

/** What the effects of a task work with. */
export interface TaskEffectDeps {
  readonly sql: Sql;
  readonly channels: Channels;
  readonly catalogue: () => Catalogue;
  /** By the name in a channel's `protocol`. */
  readonly protocols: Readonly<Record<string, GenerationProtocol | undefined>>;
  readonly storage: ResultStorage;
  readonly fetchOutput: FetchOutput;
  /** Tells whoever asked to be told that a task has ended; repeating it is harmless. */
  readonly announce: (task_id: string) => Promise<void>;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  readonly random: () => number;
  /** Told of what the client cannot be told; must not throw. */
  readonly onError: (error: unknown, task_id: string) => void;
}

/** A task as the effects see it. */
export interface TaskWork extends Omit<TaskWorkRow, 'input' | 'job' | 'produced'> {
  readonly input: GenerationInput;
  readonly job: UpstreamJob | null;
  readonly produced: ProducedRecord | null;
}

/** What the upstream made, as the task's row keeps it: bytes are in the storage already. */
export interface ProducedRecord {
  readonly outputs: readonly ProducedOutput[];
  readonly usage: GenerationUsage;
}

export type ProducedOutput = Omit<UpstreamOutput, 'base64'> & {
  /** Its name in our storage. */
  readonly file?: string;
};

export const workOf = (row: TaskWorkRow): TaskWork => row as unknown as TaskWork;

/** A channel that speaks a generation protocol, with that protocol. */
export interface Route {
  readonly channel: ChannelActor;
  readonly protocol: GenerationProtocol;
  readonly target: UpstreamTarget;
  readonly physical_model: string;
}

/** The route over a channel; undefined if it does not serve the model, or not any more. */
export function routeOver(
  deps: Pick<TaskEffectDeps, 'protocols'>,
  channel: ChannelActor | undefined,
  model: string,
): Route | undefined {
  if (!channel) return undefined;
  const { id, base_url, api_key, timeout_ms, protocol: name, models } = channel.config;
  const protocol = deps.protocols[name];
  const physical_model = models[model];
  if (!protocol || physical_model === undefined) return undefined;
  const target = { channel_id: id, base_url, api_key, timeout_ms };
  return { channel, protocol, target, physical_model };
}

/** The channel that a task's latest submission went to. */
export function ownRoute(deps: TaskEffectDeps, work: TaskWork): Route | undefined {
  return routeOver(deps, deps.channels.find(work.channel_id, work.model), work.model);
}

/** The model of a task; undefined if it was taken out of the catalogue meanwhile. */
export function modelOf(deps: TaskEffectDeps, work: TaskWork): GenerationModel | undefined {
  const model = deps.catalogue().find(work.model);
  return model?.kind === 'generation' ? model : undefined;
}
