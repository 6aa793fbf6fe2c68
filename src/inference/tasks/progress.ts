import { storeError, storeOutputs, storeProduced } from '../../../db/tasks/progress.ts';
import { findTaskWork } from '../../../db/tasks/rows.ts';
import type { Effect } from '../../actors/durable/kind.ts';
import type { TaskEvent } from '../../machines/task-events.ts';
import { RetryableUpstreamError } from '../../upstreams/contract.ts';
import type { Progress } from '../../upstreams/generation/contract.ts';
import {
  ownRoute,
  ResultMissingError,
  type Route,
  type TaskEffectDeps,
  type TaskWork,
  workOf,
} from './deps.ts';
import { taskErrorCode } from './failures.ts';
import type { StoredOutput } from './port.ts';
import { collectOutputs, recordOf } from './results.ts';

const POLL_TIMEOUT_MS = 30_000;
const CANCEL_TIMEOUT_MS = 10_000;

/** The effects `poll`, `collect` and `cancel`: asking about a job and fetching what it made. */
export class JobProgress {
  constructor(private readonly deps: TaskEffectDeps) {}

  /** Asks once. A poll that fails says nothing about the job: it is asked again later. */
  readonly poll: Effect = async (_, context) => {
    const work = workOf(await findTaskWork(this.deps.sql, context.actor_id));
    const route = ownRoute(this.deps, work);
    if (!route?.protocol.poll || !work.job) return this.running();
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(POLL_TIMEOUT_MS)]);
    const { target, physical_model } = route;
    let progress: Progress;
    try {
      progress = await route.protocol.poll({ target, physical_model, signal }, work.job);
    } catch (error) {
      this.deps.onError(error, work.id);
      return this.running(error instanceof RetryableUpstreamError ? error.retry_after_ms : 0);
    }
    return this.heard(work, progress);
  };

  /** Brings everything that was made into our storage. Throws to be tried again at the same address. */
  readonly collect: Effect = async (_, context) => {
    const work = workOf(await findTaskWork(this.deps.sql, context.actor_id));
    if (!work.produced) throw new Error(`task ${work.id} has produced nothing`);
    const { storage, fetchOutput } = this.deps;
    const parts = { storage, fetchOutput, signal: context.signal };
    let outputs: StoredOutput[];
    try {
      outputs = await collectOutputs(parts, work, work.produced, ownRoute(this.deps, work));
    } catch (error) {
      if (!(error instanceof ResultMissingError)) throw error;
      // The job is asked for a fresh address instead.
      return { type: 'COLLECT_FAILED', random: this.deps.random() } satisfies TaskEvent;
    }
    return {
      report: { type: 'COLLECTED', outputs: outputs.length } satisfies TaskEvent,
      inTransaction: (tx) => storeOutputs(tx, work.id, outputs),
    };
  };

  /** Asks the upstream to stop. Best effort: the task does not wait for it. */
  readonly cancel: Effect = async (_, context) => {
    const work = workOf(await findTaskWork(this.deps.sql, context.actor_id));
    const route = ownRoute(this.deps, work);
    if (route?.protocol.cancel && work.job) await this.stop(route, work, context.signal);
    return { type: 'CANCELLED' } satisfies TaskEvent;
  };

  private async heard(work: TaskWork, progress: Progress) {
    const { sql, storage } = this.deps;
    switch (progress.type) {
      case 'running':
        return this.running(progress.retry_after_ms);
      case 'produced': {
        const record = await recordOf(storage, work.id, progress);
        if (record.outputs.length === 0) {
          return { type: 'UPSTREAM_FAILED', error_code: 'upstream_error' } satisfies TaskEvent;
        }
        await storeProduced(sql, work.id, record);
        return { type: 'PRODUCED', outputs: record.outputs.length } satisfies TaskEvent;
      }
      case 'failed':
        // A refusal of the content, or of the input, is the client's matter, and no error of ours.
        if (progress.reason === 'upstream') {
          this.deps.onError(new Error(`the job failed: ${progress.message}`), work.id);
        }
        return {
          report: {
            type: 'UPSTREAM_FAILED',
            error_code: taskErrorCode(progress.reason),
          } satisfies TaskEvent,
          inTransaction: (tx: Parameters<typeof storeError>[0]) =>
            storeError(tx, work.id, progress.public_message),
        };
      case 'unknown':
        this.deps.onError(new Error(`the job's state is unknown: ${progress.message}`), work.id);
        // Made before, and gone from there since: what was noted then still counts.
        return work.produced
          ? ({ type: 'PRODUCED', outputs: work.produced.outputs.length } satisfies TaskEvent)
          : this.running();
      default:
        return progress satisfies never;
    }
  }

  private async stop(route: Route, work: TaskWork, effect: AbortSignal): Promise<void> {
    const { target, physical_model, protocol } = route;
    const signal = AbortSignal.any([effect, AbortSignal.timeout(CANCEL_TIMEOUT_MS)]);
    try {
      if (work.job) await protocol.cancel?.({ target, physical_model, signal }, work.job);
    } catch (error) {
      this.deps.onError(error, work.id);
    }
  }

  private running(retry_after_ms = 0): TaskEvent {
    return { type: 'PROGRESSED', retry_after_ms, random: this.deps.random() };
  }
}
