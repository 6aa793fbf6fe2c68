/**
 * The interface between `src/inference` and a provider of images, videos, music, sounds or 3D
 * models. The files named after a provider implement `GenerationProtocol`. Submit, poll, download
 * and cancel are separate, because the process may be killed between any two of them.
 */

import type { GenerationInput } from '../../catalogue/inputs.ts';
import type { GenerationUsage } from '../../protocols/generation-usage.ts';
import type { AnswerBytes, UpstreamTarget } from '../contract.ts';

/** A generation request, and the provider account that receives it. */
export interface GenerationCall {
  readonly target: UpstreamTarget;
  readonly physical_model: string;
  readonly public_model: string;
  readonly input: GenerationInput;
  /** A UUID of at most 36 characters. All attempts of this submission carry the same key. */
  readonly idempotency_key: string;
  /**
   * Aborted when the time limit of the step passes. A submission that returns the result itself is
   * also aborted when the client leaves.
   */
  readonly signal: AbortSignal;
  /** Counts the bytes of answers. */
  readonly bytes?: AnswerBytes | undefined;
  /** Receives the previews of an image whose input has `stream`. Must not throw. */
  readonly onPartial?: ((partial: PartialImage) => void) | undefined;
}

/** A preview of an image that is being made. The texts are those of the provider, if it sent them. */
export interface PartialImage {
  readonly base64: string;
  /** The number of the preview, from 0. */
  readonly index: number;
  readonly background?: string;
  readonly output_format?: string;
  readonly quality?: string;
  readonly size?: string;
}

/** A request about an accepted job, to the account that accepted it. */
export type JobCall = Pick<GenerationCall, 'target' | 'physical_model' | 'signal' | 'bytes'>;

/**
 * What Weir needs to find a job at the provider again. It is stored with the task and never shown
 * to clients (P5).
 */
export interface UpstreamJob {
  readonly id: string;
  /**
   * Polling URL, if the provider gave one. Weir polls it only if it belongs to the provider (see
   * `isOwnAddress`).
   */
  readonly poll_url?: string;
  /** Data that `poll` needs, e.g. a path or a result URL. Each protocol defines its meaning. */
  readonly path?: string;
}

/** One result: a URL to download, the bytes in Base64, or a text. */
export interface UpstreamOutput {
  readonly kind: 'image' | 'video' | 'audio' | 'model' | 'text';
  readonly url?: string;
  /**
   * True if the URL needs the account's key (e.g. Veo's files). The key is sent only to the host of
   * `base_url`.
   */
  readonly needs_key?: boolean;
  readonly base64?: string;
  /** The lyrics, if `kind` is `text`. */
  readonly text?: string;
  /** The provider's content type, e.g. `image/png`. */
  readonly content_type?: string;
  readonly revised_prompt?: string;
  readonly title?: string;
  /** Length of the result, in seconds. */
  readonly duration?: number;
  readonly width?: number;
  readonly height?: number;
  /**
   * The provider's name of this result in a request that continues it, e.g. a clip id. Clients see
   * an id of Weir's instead.
   */
  readonly continuation_id?: string;
}

export interface Produced {
  readonly type: 'produced';
  readonly outputs: readonly UpstreamOutput[];
  readonly usage: GenerationUsage;
}

/** The provider ended the job without a result. */
export interface Failed {
  readonly type: 'failed';
  /**
   * `moderation`: the content was refused. `input`: the provider could not use the client's input.
   * `upstream`: the provider is at fault.
   */
  readonly reason: 'moderation' | 'input' | 'upstream';
  /** Wording for the client. It names no provider, account or physical model. */
  readonly public_message: string;
  /** Wording for the log only. */
  readonly message: string;
}

export type SubmitResult =
  | { readonly type: 'accepted'; readonly job: UpstreamJob }
  | Produced
  | Failed;

export type Progress =
  | {
      readonly type: 'running';
      readonly status: 'queued' | 'processing';
      /** Whole percent, 0 to 100; absent if the provider reports no progress. */
      readonly progress?: number;
      /**
       * How long Weir must wait before the next poll, in ms; absent if the provider does not
       * require a wait.
       */
      readonly retry_after_ms?: number;
    }
  | Produced
  | Failed
  /**
   * The provider says that it has no such job, or refuses each request about it. Right after the
   * submission this may be wrong, because some providers show a new job with a delay.
   */
  | { readonly type: 'missing'; readonly message: string }
  /** The provider's response is unreadable, so nothing is known about the job (P10). */
  | { readonly type: 'unknown'; readonly message: string };

/**
 * A submission was sent, but its response was lost or is unreadable. So the job may exist (P10).
 * Weir sends the submission again only if the protocol is idempotent, and then only to the same
 * channel.
 */
export class LostSubmissionError extends Error {
  override readonly name = 'LostSubmissionError';
}

/**
 * One provider's wire format. Each HTTP request has a time limit. `submit` throws
 * RetryableUpstreamError if the provider certainly accepted no job, LostSubmissionError if a job
 * may exist, and TerminalUpstreamError if the request is wrong. The other functions throw
 * RetryableUpstreamError if their request failed. If the signal was aborted, each function throws
 * the signal's reason.
 */
export interface GenerationProtocol {
  readonly name: string;
  /** True if a repeated submit with the same `idempotency_key` returns the same job. */
  readonly idempotent: boolean;
  submit(call: GenerationCall): Promise<SubmitResult>;
  /** Absent if `submit` returns the result itself. */
  poll?(call: JobCall, job: UpstreamJob): Promise<Progress>;
  /**
   * Finds the job of a lost submission by its `idempotency_key`. Returns undefined if the provider
   * does not list such a job. The member is absent if the provider cannot search.
   */
  find?(call: GenerationCall): Promise<UpstreamJob | undefined>;
  /** Asks the provider to cancel the job. It does not tell whether the provider did so. */
  cancel?(call: JobCall, job: UpstreamJob): Promise<void>;
  /** Headers for downloading a result with `needs_key`. */
  downloadHeaders?(target: UpstreamTarget): Record<string, string>;
}
