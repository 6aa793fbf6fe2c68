/**
 * A provider of generations in this process. A test scripts the provider, and the provider records
 * every accepted job.
 */
import { RetryableUpstreamError } from '../../src/upstreams/contract.ts';
import {
  type GenerationCall,
  type GenerationProtocol,
  LostSubmissionError,
  type Progress,
  type SubmitResult,
  type UpstreamJob,
} from '../../src/upstreams/generation/contract.ts';

/**
 * With `job`, Weir polls for the result. With `inline`, the answer to the submission is the result.
 */
export type ProviderKind = 'job' | 'inline';

export interface AcceptedJob {
  id: string;
  idempotency_key: string;
  channel_id: string;
  polls: number;
  cancelled: boolean;
}

export interface ProviderScript {
  /** Called before a submission is accepted. The function may throw or wait. */
  beforeAccept?: (call: GenerationCall) => void | Promise<void>;
  /**
   * Called after a submission was accepted and before its answer. The function may throw or wait.
   */
  afterAccept?: (call: GenerationCall) => void | Promise<void>;
  /** The answer to a poll. By default the first poll finds the result. */
  progress?: (job: AcceptedJob) => Progress;
  /** The answer of an inline submission. */
  inline?: () => SubmitResult;
}

const PNG = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');

export const PRODUCED: Extract<Progress, { type: 'produced' }> = {
  type: 'produced',
  outputs: [{ kind: 'video', url: 'https://files.invalid/1.mp4', content_type: 'video/mp4' }],
  usage: { seconds: 8 },
};

export class ScriptedProvider {
  readonly accepted: AcceptedJob[] = [];
  script: ProviderScript = {};

  /** Number of all polls. */
  get polls(): number {
    return this.accepted.reduce((sum, { polls }) => sum + polls, 0);
  }

  protocol(
    kind: ProviderKind,
    { idempotent = false, finds = false }: { idempotent?: boolean; finds?: boolean } = {},
  ): GenerationProtocol {
    const submit = (call: GenerationCall) => this.submit(call, kind, idempotent);
    if (kind === 'inline') return { name: kind, idempotent, submit };
    return {
      name: kind,
      idempotent,
      submit,
      poll: async (_, job) => this.poll(job),
      cancel: async (_, { id }) => {
        const job = this.job(id);
        if (job) job.cancelled = true;
      },
      ...(finds
        ? {
            find: async ({ idempotency_key }: GenerationCall) => {
              const job = this.accepted.find((each) => each.idempotency_key === idempotency_key);
              return job && { id: job.id };
            },
          }
        : {}),
    };
  }

  private job(id: string): AcceptedJob | undefined {
    return this.accepted.find((each) => each.id === id);
  }

  private async submit(
    call: GenerationCall,
    kind: ProviderKind,
    idempotent: boolean,
  ): Promise<SubmitResult> {
    await this.script.beforeAccept?.(call);
    call.signal.throwIfAborted();
    const { idempotency_key, target } = call;
    const known = idempotent
      ? this.accepted.find((each) => each.idempotency_key === idempotency_key)
      : undefined;
    const job = known ?? {
      id: crypto.randomUUID(),
      idempotency_key,
      channel_id: target.channel_id,
      polls: 0,
      cancelled: false,
    };
    if (!known) this.accepted.push(job);
    await this.script.afterAccept?.(call);
    if (kind === 'job') return { type: 'accepted', job: { id: job.id } };
    return (
      this.script.inline?.() ?? {
        type: 'produced',
        outputs: [{ kind: 'image', base64: PNG, content_type: 'image/png' }],
        usage: { images: 1 },
      }
    );
  }

  private poll({ id }: UpstreamJob): Progress {
    const job = this.job(id);
    if (!job) return { type: 'unknown', message: 'no such job' };
    job.polls += 1;
    return this.script.progress?.(job) ?? PRODUCED;
  }
}

/** Throws the error of an accepted submission whose answer was lost. */
export function lose(): never {
  throw new LostSubmissionError('the connection was cut');
}

/** Throws the error of a submission that the upstream certainly did not accept. */
export function reject(): never {
  throw new RetryableUpstreamError('server', 'overloaded');
}
