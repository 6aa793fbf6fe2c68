/**
 * What the upper floors know of a provider of images, videos and music. Each file implements
 * `GenerationProtocol` for one provider. Submit, poll, download and cancel are separate, because
 * the process may be killed between any two of them.
 */

import type { GenerationInput } from '../../catalogue/inputs.ts';
import type { GenerationUsage } from '../../protocols/generation-usage.ts';
import type { UpstreamTarget } from '../contract.ts';

/** One provider account and the request for it. */
export interface GenerationCall {
  readonly target: UpstreamTarget;
  readonly physical_model: string;
  readonly public_model: string;
  readonly input: GenerationInput;
  /** A UUID of at most 36 characters. All attempts of this submission have the same one. */
  readonly idempotency_key: string;
  /** Aborted when the effect times out. */
  readonly signal: AbortSignal;
}

/** The account that accepted a job, for polling it. */
export type JobCall = Pick<GenerationCall, 'target' | 'physical_model' | 'signal'>;

/**
 * The provider's name for a job. It has the id of the job, and a polling URL or path if the
 * provider gave one. It is stored with the task and never shown (P5).
 */
export interface UpstreamJob {
  readonly id: string;
  /** Polling URL, if the provider gave one. The key is sent to it only if it is on the account's host. */
  readonly poll_url?: string;
  /** Other data that the protocol needs later, e.g. the operation's path. */
  readonly path?: string;
}

/** One result: a URL to download, or its bytes in Base64. */
export interface UpstreamOutput {
  readonly kind: 'image' | 'video' | 'audio' | 'model' | 'text';
  readonly url?: string;
  /** True if the URL needs the account's key (e.g. Veo's files). */
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
  /** The id that a continuation refers to, e.g. a clip id. Clients never see it unchanged. */
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
   * `moderation`: the content was refused. `input`: the client is at fault. `upstream`: the
   * provider is at fault.
   */
  readonly reason: 'moderation' | 'input' | 'upstream';
  /** Wording for the client. It names no provider, account or physical model. */
  readonly public_message: string;
  /** Wording for the log only. */
  readonly message: string;
}

export type Submitted =
  | { readonly type: 'accepted'; readonly job: UpstreamJob }
  | Produced
  | Failed;

export type Progress =
  | {
      readonly type: 'running';
      readonly status: 'queued' | 'processing';
      /** The progress, 0 to 1; absent if the provider reports none. */
      readonly progress?: number;
      /** The wait before the next poll that the provider requested, in ms. */
      readonly retry_after_ms?: number;
    }
  | Produced
  | Failed
  /** The provider does not know the job, or its response is unreadable (P10). */
  | { readonly type: 'unknown'; readonly message: string };

/**
 * The response to a submission was lost after the request was sent, so the job may exist (P10).
 * Weir sends the submission again only if the protocol is idempotent, and then only to the same
 * channel.
 */
export class LostSubmissionError extends Error {
  override readonly name = 'LostSubmissionError';
}

/**
 * One provider's wire format. Each function makes one or a few bounded HTTP requests. It throws
 * RetryableUpstreamError if the provider certainly accepted nothing. It throws
 * TerminalUpstreamError if the request is wrong. Only `submit` throws LostSubmissionError. If the
 * signal was aborted, each function throws its reason.
 */
export interface GenerationProtocol {
  readonly name: string;
  /** True if a repeated submit with the same key returns the same job. */
  readonly idempotent: boolean;
  submit(call: GenerationCall): Promise<Submitted>;
  /** Absent if `submit` returns the result itself. */
  poll?(call: JobCall, job: UpstreamJob): Promise<Progress>;
  /** Finds the job of a lost submission by its key; undefined if the provider has no such job. */
  find?(call: GenerationCall): Promise<UpstreamJob | undefined>;
  /** Sends the provider a cancel request for the job. A failure of this request is ignored. */
  cancel?(call: JobCall, job: UpstreamJob): Promise<void>;
  /** Headers for downloading a result with `needs_key`. */
  downloadHeaders?(target: UpstreamTarget): Record<string, string>;
}
