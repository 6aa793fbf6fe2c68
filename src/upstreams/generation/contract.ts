/**
 * What the upper floors know of a provider of images, videos and music: one provider per file
 * implements `GenerationProtocol`. Submitting, asking, fetching and cancelling are separate, since a
 * task may be killed between any two of them (design 3).
 */

import type { GenerationInput } from '../../catalogue/inputs.ts';
import type { GenerationUsage } from '../../protocols/generation-usage.ts';
import type { UpstreamTarget } from '../contract.ts';

/** One provider account and what is asked of it. */
export interface GenerationCall {
  readonly target: UpstreamTarget;
  readonly physical_model: string;
  readonly public_model: string;
  readonly input: GenerationInput;
  /** The same for every attempt of this submission, at most 36 characters (a UUID). */
  readonly idempotency_key: string;
  /** Aborted at the effect's time-out. */
  readonly signal: AbortSignal;
}

/** The account that took a job, for asking about it. */
export type JobCall = Pick<GenerationCall, 'target' | 'physical_model' | 'signal'>;

/**
 * How a provider knows a job: its id and whatever else it gave for asking (a polling URL, a path).
 * Kept with the task, never shown (P5).
 */
export interface UpstreamJob {
  readonly id: string;
  /** Where to ask, if the provider said so. The key goes there only if it is the target's own host. */
  readonly poll_url?: string;
  /** Anything else the protocol needs later, e.g. which path the operation lives on. */
  readonly path?: string;
}

/** One thing that was made. Either an address to fetch it from or its bytes in Base64. */
export interface UpstreamOutput {
  readonly kind: 'image' | 'video' | 'audio' | 'model' | 'text';
  readonly url?: string;
  /** True where the address answers only with the account's key (e.g. Veo's files). */
  readonly needs_key?: boolean;
  readonly base64?: string;
  /** For `kind: 'text'`: lyrics. */
  readonly text?: string;
  /** What the provider says it is, e.g. `image/png`. */
  readonly content_type?: string;
  readonly revised_prompt?: string;
  readonly title?: string;
  /** Seconds. */
  readonly duration?: number;
  readonly width?: number;
  readonly height?: number;
  /** What a continuation of this names it, e.g. a clip id. Never shown as it is. */
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
  /** `moderation`: the content was refused; `input`: the client's doing; `upstream`: the provider's. */
  readonly reason: 'moderation' | 'input' | 'upstream';
  /** Cleaned for the public: names no provider, account or physical model. */
  readonly public_message: string;
  /** Internal wording, for the log. */
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
      /** 0–1 if said. */
      readonly progress?: number;
      /** When the provider wants to be asked again. */
      readonly retry_after_ms?: number;
    }
  | Produced
  | Failed
  /** The provider does not know the job, or says something nobody understands (P10). */
  | { readonly type: 'unknown'; readonly message: string };

/**
 * The submission's answer was lost after the request was sent: the job may exist (P10). Never tried
 * on another channel unless the protocol is idempotent and the channel the same.
 */
export class LostSubmissionError extends Error {
  override readonly name = 'LostSubmissionError';
}

/**
 * One provider's wire format. Every call is one bounded HTTP exchange (or a few, each bounded) and
 * throws RetryableUpstreamError (surely not accepted), TerminalUpstreamError (the request is at
 * fault), LostSubmissionError (`submit` only), or the signal's reason.
 */
export interface GenerationProtocol {
  readonly name: string;
  /** A repeated submit with the same key is recognised by the provider and yields the same job. */
  readonly idempotent: boolean;
  submit(call: GenerationCall): Promise<Submitted>;
  /** Absent where `submit` produces at once. */
  poll?(call: JobCall, job: UpstreamJob): Promise<Progress>;
  /** Looks a lost submission up by its key, where the provider lets us; undefined = not there. */
  find?(call: GenerationCall): Promise<UpstreamJob | undefined>;
  /** Asks the provider to stop; best effort, throws nothing that matters. */
  cancel?(call: JobCall, job: UpstreamJob): Promise<void>;
  /** Headers for fetching an output with `needs_key`. */
  downloadHeaders?(target: UpstreamTarget): Record<string, string>;
}
