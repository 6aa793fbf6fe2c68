import {
  countMissingJob,
  endMissingJob,
  storeError,
  storeOutputs,
  storeProduced,
} from '../../../db/tasks/progress.ts';
import type { Effect } from '../../actors/durable/kind.ts';
import type { TaskEvent } from '../../machines/task-events.ts';
import { RetryableUpstreamError } from '../../upstreams/contract.ts';
import type { Progress, UpstreamJob } from '../../upstreams/generation/contract.ts';
import type { BytesInFlight } from '../../upstreams/transport/body-budget.ts';
import { saidBy, withoutOwnWords } from '../routing/own-words.ts';
import {
  channelOf,
  ResultMissingError,
  type Route,
  routeOfSubmission,
  type TaskEffectDeps,
  type TaskWork,
  withBytes,
} from './deps.ts';
import { taskErrorCode } from './failures.ts';
import type { StoredOutput } from './port.ts';
import { collectOutputs, recordOf } from './results.ts';
import { WorkReader } from './work-reader.ts';

const POLL_TIMEOUT_MS = 30_000;
const CANCEL_TIMEOUT_MS = 10_000;
/**
 * A task fails if its upstream reports the job as missing for MISSING_JOB_MS and at
 * MISSING_JOB_POLLS polls in a row. Some upstreams report a new job as missing at first, but for a
 * shorter time.
 */
const MISSING_JOB_MS = 60_000;
const MISSING_JOB_POLLS = 5;
const MISSING_JOB_MESSAGE = 'The model provider does not know this generation any more.';
const UNSTORED_MESSAGE = 'The result of the generation could not be stored.';
const CANCELLED = { type: 'CANCELLED' } as const satisfies TaskEvent;
/** The most tasks whose unreadable answers are remembered, so that each is logged once. */
const MAX_REMEMBERED_TASKS = 10_000;

/**
 * The effects `poll`, `collect` and `cancel`. They read a job's progress, fetch its results, and
 * cancel the job.
 */
export class JobProgress {
  /** Ids of tasks whose unreadable answers were logged. */
  private readonly logged = new Set<string>();
  private readonly works: WorkReader;

  constructor(private readonly deps: TaskEffectDeps) {
    this.works = new WorkReader(deps.sql);
  }

  /**
   * Polls the job once. A failed poll tells nothing about the job. So the job is polled again
   * later.
   */
  readonly poll: Effect = async (_, context) => {
    const work = await this.works.get(context.actor_id);
    const route = routeOfSubmission(this.deps, work);
    if (!route) return this.stillRunning();
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(POLL_TIMEOUT_MS)]);
    return withBytes(this.deps, work, (bytes) => this.pollJob(work, route, signal, bytes));
  };

  /**
   * Copies the results into the storage. If this throws, the effect runs again with the same result
   * URLs.
   */
  readonly collect: Effect = async (_, context) => {
    const work = await this.works.get(context.actor_id);
    if (!work.produced) throw new Error(`task ${work.id} has produced nothing`);
    const { storage, fetchResult } = this.deps;
    const parts = { storage, fetchResult, signal: context.signal };
    let outputs: StoredOutput[];
    try {
      outputs = await collectOutputs(
        parts,
        work,
        work.produced,
        routeOfSubmission(this.deps, work),
      );
    } catch (error) {
      if (!(error instanceof ResultMissingError)) throw error;
      return this.handleUnstored(work, error);
    }
    return {
      report: { type: 'COLLECTED', outputs: outputs.length } satisfies TaskEvent,
      inTransaction: (tx) => storeOutputs(tx, work.id, outputs),
    };
  };

  /**
   * Cancels the job at the upstream if the job can be canceled. If the client left, the task ends
   * whether or not this succeeds. If the organization requested it, the upstream's report decides how
   * the task ends. So this throws if the upstream cannot be reached, and runs again.
   */
  readonly cancel: Effect = async (_, context) => {
    const work = await this.works.get(context.actor_id);
    const route = routeOfSubmission(this.deps, work);
    if (!route?.protocol.cancel || !work.job) return CANCELLED;
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(CANCEL_TIMEOUT_MS)]);
    if (work.cancel_requested) await this.cancelByRequest(route, work, signal);
    else await this.cancelJob(route, work, signal);
    return CANCELLED;
  };

  /**
   * Handles a result that cannot be fetched, e.g. because its URL is not on the public internet. The
   * log and the channel's `last_failure` get the rule that refused it. The client does not, because
   * the rule may name the provider's host (P5). The machine polls the job again to get fresh URLs.
   */
  private handleUnstored(work: TaskWork, error: ResultMissingError) {
    const said = new Error(`the result cannot be stored: ${error.message}`, { cause: error });
    this.deps.onError(said, work.id);
    channelOf(this.deps, work)?.noteFailure('malformed', said.message);
    return {
      report: { type: 'COLLECT_FAILED', random: this.deps.random() } satisfies TaskEvent,
      inTransaction: (tx: Parameters<typeof storeError>[0]) =>
        storeError(tx, work.id, UNSTORED_MESSAGE),
    };
  }

  private async pollJob(
    work: TaskWork,
    { protocol, target, physical_model }: Route,
    signal: AbortSignal,
    bytes: BytesInFlight,
  ) {
    if (!protocol.poll || !work.job) return this.stillRunning();
    let progress: Progress;
    try {
      progress = await protocol.poll({ target, physical_model, signal, bytes }, work.job);
    } catch (error) {
      this.deps.onError(withoutOwnWords(error, work.channel_id), work.id);
      return this.stillRunning(error instanceof RetryableUpstreamError ? error.retry_after_ms : 0);
    }
    if (progress.type === 'missing') return this.handleMissing(work, progress.message);
    if (work.job.missing) await endMissingJob(this.deps.sql, work.id);
    return this.handleProgress(work, progress);
  }

  private async handleProgress(work: TaskWork, progress: Exclude<Progress, { type: 'missing' }>) {
    const { sql, storage } = this.deps;
    switch (progress.type) {
      case 'running':
        return this.stillRunning(progress.retry_after_ms, progress.progress);
      case 'produced': {
        const record = await recordOf(storage, work.id, progress);
        if (record.outputs.length === 0) {
          return { type: 'UPSTREAM_FAILED', error_code: 'upstream_error' } satisfies TaskEvent;
        }
        await storeProduced(sql, work.id, record);
        return { type: 'PRODUCED', outputs: record.outputs.length } satisfies TaskEvent;
      }
      case 'failed':
        // If the provider refused the content or the input, the client caused the error. Such an
        // error is not reported.
        if (progress.reason === 'upstream') {
          const said = saidBy(work.channel_id, `the job failed: ${progress.message}`);
          this.deps.onError(said, work.id);
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
        this.logOnce(work, `the job's state is unknown: ${progress.message}`);
        return recordedResult(work) ?? this.stillRunning();
      default:
        return progress satisfies never;
    }
  }

  /**
   * Handles a poll at which the upstream reports the job as missing. The upstream accepted the job
   * earlier, so the job is not submitted again. The task fails if the job stays missing for
   * `MISSING_JOB_MS` and `MISSING_JOB_POLLS` polls.
   */
  private async handleMissing(work: TaskWork, message: string) {
    const recorded = recordedResult(work);
    if (recorded) return recorded;
    const { polls, missing_ms } = await countMissingJob(this.deps.sql, work.id);
    if (polls < MISSING_JOB_POLLS || missing_ms < MISSING_JOB_MS) return this.stillRunning();
    const said = `the upstream had no such job at ${polls} polls in ${missing_ms} ms: ${message}`;
    this.deps.onError(saidBy(work.channel_id, said), work.id);
    return {
      report: { type: 'UPSTREAM_FAILED', error_code: 'upstream_error' } satisfies TaskEvent,
      inTransaction: (tx: Parameters<typeof storeError>[0]) =>
        storeError(tx, work.id, MISSING_JOB_MESSAGE),
    };
  }

  private logOnce({ id, channel_id }: TaskWork, message: string): void {
    if (this.logged.has(id)) return;
    if (this.logged.size >= MAX_REMEMBERED_TASKS) this.logged.clear();
    this.logged.add(id);
    this.deps.onError(saidBy(channel_id, message), id);
  }

  /**
   * Cancels a running job. A job that has ended is left alone, because some providers then delete its
   * result (Runway docs: Cancel or delete a task). The next poll collects the result.
   */
  private async cancelByRequest(
    { target, physical_model, protocol }: Route,
    work: TaskWork,
    signal: AbortSignal,
  ): Promise<void> {
    const isOver = work.status === 'completed' || work.status === 'failed';
    if (isOver || work.produced || !work.job) return;
    const call = { target, physical_model, signal };
    const progress = await withBytes(this.deps, work, (bytes) =>
      Promise.resolve(protocol.poll?.({ ...call, bytes }, work.job as UpstreamJob)),
    );
    if (progress?.type === 'running' || progress?.type === 'missing') {
      await protocol.cancel?.(call, work.job);
    }
  }

  private async cancelJob(route: Route, work: TaskWork, signal: AbortSignal): Promise<void> {
    const { target, physical_model, protocol } = route;
    try {
      if (work.job) await protocol.cancel?.({ target, physical_model, signal }, work.job);
    } catch (error) {
      this.deps.onError(withoutOwnWords(error, work.channel_id), work.id);
    }
  }

  private stillRunning(retry_after_ms = 0, progress: number | null = null): TaskEvent {
    return { type: 'PROGRESSED', progress, retry_after_ms, random: this.deps.random() };
  }
}

/**
 * Returns the event for the result that an earlier poll recorded; undefined if none was recorded. A
 * recorded result stays valid if the upstream later reports the job as missing.
 */
function recordedResult({ produced }: TaskWork): TaskEvent | undefined {
  return produced ? { type: 'PRODUCED', outputs: produced.outputs.length } : undefined;
}
