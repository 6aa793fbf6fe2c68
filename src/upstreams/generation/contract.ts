/**
 * What the upper floors know of a provider of images, videos and music. One provider per file implements
 * `GenerationProtocol`. Submit, poll, download and cancel are separate, because the process may be killed
 * between any two of them.
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
  /** The same for every attempt of this submission; a UUID, at most 36 characters. */
  readonly idempotency_key: string;
  /** Aborted when the effect times out. */
  readonly signal: AbortSignal;
}

/** The account that accepted a job, for polling it. */
export type JobCall = Pick<GenerationCall, 'target' | 'physical_model' | 'signal'>;

/**
 * The provider's name for a job: its id, and a polling URL or path if the provider gave one. Stored with
 * the task, never shown (P5).
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
  /** For `kind: 'text'`: lyrics. */
  readonly text?: string;
  /** The provider's content type, e.g. `image/png`. */
  readonly content_type?: string;
  readonly revised_prompt?: string;
  readonly title?: string;
  /** Seconds. */
  readonly duration?: number;
  readonly width?: number;
  readonly height?: number;
  /** Id that a continuation refers to, e.g. a clip id. Not shown to clients unchanged. */
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
  /** `moderation`: the content was refused. `input`: the client's fault. `upstream`: the provider's fault. */
  readonly reason: 'moderation' | 'input' | 'upstream';
  /** Shown to the client: names no provider, account or physical model. */
  readonly public_message: string;
  /** For the log only. */
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
      /** 0–1; absent if the provider reports none. */
      readonly progress?: number;
      /** Earliest next poll that the provider asked for, ms. */
      readonly retry_after_ms?: number;
    }
  | Produced
  | Failed
  /** The provider does not know the job, or its response is unreadable (P10). */
  | { readonly type: 'unknown'; readonly message: string };

/**
 * The response to a submission was lost after the request was sent, so the job may exist (P10). It is
 * sent again only if the protocol is idempotent, and then only to the same channel.
 */
export class LostSubmissionError extends Error {
  override readonly name = 'LostSubmissionError';
}

/**
 * One provider's wire format. Each call is one or a few bounded HTTP exchanges. It throws
 * RetryableUpstreamError (not accepted for certain), TerminalUpstreamError (the request is wrong),
 * LostSubmissionError (`submit` only), or the signal's reason.
 */
export interface GenerationProtocol {
  readonly name: string;
  /** True if a repeated submit with the same key returns the same job. */
  readonly idempotent: boolean;
  submit(call: GenerationCall): Promise<Submitted>;
  /** Absent if `submit` returns the result itself. */
  poll?(call: JobCall, job: UpstreamJob): Promise<Progress>;
  /** Finds a lost submission by its key; undefined if the provider has no such job. */
  find?(call: GenerationCall): Promise<UpstreamJob | undefined>;
  /** Asks the provider to cancel the job. Best effort: failures are ignored. */
  cancel?(call: JobCall, job: UpstreamJob): Promise<void>;
  /** Headers for downloading a result with `needs_key`. */
  downloadHeaders?(target: UpstreamTarget): Record<string, string>;
}
