import {
  beginSubmission,
  clearSubmission,
  storeError,
  storeJob,
  storeProduced,
} from '../../../db/tasks/progress.ts';
import { getTaskWork } from '../../../db/tasks/rows.ts';
import type { ChannelPermit } from '../../actors/channels/channel.ts';
import type { Effect, EffectContext, EffectReport } from '../../actors/durable/kind.ts';
import type { TaskEvent } from '../../machines/task-events.ts';
import { RetryableUpstreamError, TerminalUpstreamError } from '../../upstreams/contract.ts';
import { LostSubmissionError, type SubmitResult } from '../../upstreams/generation/contract.ts';
import type { BytesInFlight } from '../../upstreams/transport/body-budget.ts';
import { Candidates } from '../routing/candidates.ts';
import { saidBy, withoutOwnWords } from '../routing/own-words.ts';
import { refusedMessage } from '../routing/route.ts';
import {
  type Route,
  routeOfSubmission,
  type TaskEffectDeps,
  type TaskWork,
  withBytes,
  workOf,
} from './deps.ts';
import { rejectionErrorCode, taskErrorCode } from './failures.ts';
import { jobRoutes } from './job-routes.ts';
import { servingTask } from './own-tasks.ts';
import { recordOf } from './results.ts';
import type { RunningSubmissions } from './running.ts';

/**
 * If a protocol can neither find nor repeat a submission, Weir waits this long for a late report of
 * the answer. Such a report comes from a replica that only seemed dead. After this time the outcome
 * counts as lost for good.
 */
const LATE_REPORT_MS = 15_000;
/**
 * If an upstream still does not find a submission after this time, it created no job. A new job
 * becomes visible much sooner.
 */
const JOB_VISIBLE_MS = 30_000;
const FIND_TIMEOUT_MS = 30_000;

/** Report for a task that nobody wants any more, before an upstream got it. */
const CANCELLED: SubmissionReport = {
  report: { type: 'UPSTREAM_FAILED', error_code: 'request_cancelled' },
};

/** The event that an effect reports, and the writes that are committed in the same transaction. */
type SubmissionReport = { report: TaskEvent } & Pick<EffectReport, 'inTransaction'>;

interface SubmissionAttempt {
  readonly work: TaskWork;
  readonly route: Route;
  readonly permit: ChannelPermit;
  readonly context: EffectContext;
  readonly hasOtherChannel: boolean;
  readonly isRepeat: boolean;
}

/** The effects `submit` and `locate`: they send a job to an upstream at most once (P10). */
export class Submission {
  constructor(
    private readonly deps: TaskEffectDeps,
    private readonly running: RunningSubmissions,
  ) {}

  /**
   * Sends the job to the first channel that accepts a call. The submission is recorded in the
   * task's row before anything is sent. So after a crash, a later run of the effect finds the
   * record. The later run knows that the outcome is unknown.
   */
  readonly submit: Effect = async (params, context) => {
    const work = workOf(await getTaskWork(this.deps.sql, context.actor_id, true));
    const recorded = this.recordedReport(work);
    if (recorded) return recorded;
    if (work.submitted_ms_ago !== null) return this.sendAgain(work, context);
    if (work.cancel_requested || this.running.hasClientLeft(work.id)) return CANCELLED;
    const { tried, pinned } = params as unknown as { tried: string[]; pinned: string | null };
    const routes = jobRoutes(this.deps, work, tried, pinned);
    const taken = new Candidates([...routes]).next((route, urgent) => {
      const permit = route.channel.tryAcquire('job', urgent, work.id);
      return permit && { route, permit };
    });
    if (!taken) return { report: this.noChannelEvent(work, routes) };
    const { route, permit } = taken;
    if (!(await this.recordSubmission(work, permit))) return this.unrecorded(work);
    const hasOtherChannel = routes.some((other) => other !== route && other.channel.canAcquire());
    return this.attempt(work, route, permit, context, hasOtherChannel);
  };

  /**
   * Finds out the outcome of a submission whose answer was lost. If the upstream is idempotent,
   * repeats the submission. Otherwise, looks up the job if the upstream can search for it.
   */
  readonly locate: Effect = async (_, context) => {
    const work = workOf(await getTaskWork(this.deps.sql, context.actor_id, true));
    const recorded = this.recordedReport(work);
    if (recorded) return recorded;
    const route = routeOfSubmission(this.deps, work);
    if (!route) return this.unanswered(work);
    if (route.protocol.idempotent) return this.repeat(work, route, context);
    if (!route.protocol.find) return this.unanswered(work, LATE_REPORT_MS);
    try {
      const signal = AbortSignal.any([context.signal, AbortSignal.timeout(FIND_TIMEOUT_MS)]);
      const job = await route.protocol.find(this.call(work, route, signal));
      if (job) return await this.accepted(work, route, { type: 'accepted', job });
      return this.unanswered(work, JOB_VISIBLE_MS);
    } catch (error) {
      this.deps.onError(withoutOwnWords(error, work.channel_id), work.id);
      return this.unanswered(work);
    }
  };

  /**
   * Returns the report if an earlier run has already stored the job or its results in the task's
   * row.
   */
  private recordedReport({ produced, job, channel_id }: TaskWork): SubmissionReport | undefined {
    if (produced) return { report: { type: 'PRODUCED', outputs: produced.outputs.length } };
    if (job && channel_id) return { report: this.submitted(channel_id) };
    return undefined;
  }

  private async recordSubmission(work: TaskWork, permit: ChannelPermit): Promise<boolean> {
    try {
      const isRecorded = await beginSubmission(this.deps.sql, work.id, permit.channel.config.id);
      if (!isRecorded) permit.abandoned();
      return isRecorded;
    } catch (error) {
      permit.abandoned();
      throw error;
    }
  }

  /**
   * Continues after a crash between sending and recording the answer. Only an idempotent upstream
   * gets the job again.
   */
  private async sendAgain(work: TaskWork, context: EffectContext): Promise<SubmissionReport> {
    const route = routeOfSubmission(this.deps, work);
    if (!route?.protocol.idempotent) return this.lost();
    const permit = route.channel.tryAcquire('job', true, work.id);
    if (!permit) return this.lost();
    return this.attempt(work, route, permit, context, false, true);
  }

  /** Returns the report of a submission that was not sent, because it could not be recorded. */
  private async unrecorded({ id }: TaskWork): Promise<SubmissionReport> {
    const { cancel_requested, submitted_ms_ago } = workOf(await getTaskWork(this.deps.sql, id));
    return cancel_requested && submitted_ms_ago === null ? CANCELLED : this.lost();
  }

  private async repeat(
    work: TaskWork,
    route: Route,
    context: EffectContext,
  ): Promise<SubmissionReport> {
    const permit = route.channel.tryAcquire('job', true, work.id);
    if (!permit) return this.unanswered(work);
    const result = await this.attempt(work, route, permit, context, false, true);
    return result.report.type === 'LOST' ? this.unanswered(work) : result;
  }

  /**
   * Sends the job once. `hasOtherChannel` is true if another channel can take the job. `isRepeat`
   * is true if the upstream may have accepted an earlier submission with the same idempotency key.
   */
  private attempt(
    work: TaskWork,
    route: Route,
    permit: ChannelPermit,
    context: EffectContext,
    hasOtherChannel: boolean,
    isRepeat = false,
  ): Promise<SubmissionReport> {
    const attempt = { work, route, permit, context, hasOtherChannel, isRepeat };
    return withBytes(this.deps, work, (bytes) => this.attemptWith(bytes, attempt));
  }

  private async attemptWith(
    bytes: BytesInFlight,
    { work, route, permit, context, hasOtherChannel, isRepeat }: SubmissionAttempt,
  ): Promise<SubmissionReport> {
    const timeout = AbortSignal.timeout(route.target.timeout_ms);
    const signal = AbortSignal.any([context.signal, timeout]);
    // If the client leaves, a job with an id is canceled by its id. If the response is the result
    // itself, there is no job, so the request is aborted instead.
    const watch = route.protocol.poll ? undefined : this.running.watch(work.id, signal);
    let submitted: SubmitResult;
    try {
      const call = this.call(work, route, watch?.signal ?? signal);
      const onPartial = this.running.listenerOf(work.id);
      submitted = await route.protocol.submit({ ...call, bytes, onPartial });
    } catch (error) {
      if (watch?.hasClientLeft()) {
        permit.abandoned();
        return CANCELLED;
      }
      return this.failed(error, work, permit, hasOtherChannel, isRepeat);
    } finally {
      watch?.end();
    }
    permit.succeeded();
    return this.accepted(work, route, submitted);
  }

  private async accepted(
    work: TaskWork,
    route: Route,
    submitted: SubmitResult,
  ): Promise<SubmissionReport> {
    const { sql, storage } = this.deps;
    switch (submitted.type) {
      case 'accepted':
        await storeJob(sql, work.id, submitted.job);
        return { report: this.submitted(route.target.channel_id) };
      case 'produced': {
        const record = await recordOf(storage, work.id, submitted);
        if (record.outputs.length === 0) {
          return { report: { type: 'UPSTREAM_FAILED', error_code: 'upstream_error' } };
        }
        await storeProduced(sql, work.id, record);
        return { report: { type: 'PRODUCED', outputs: record.outputs.length } };
      }
      case 'failed':
        if (submitted.reason === 'upstream') {
          const { channel_id } = route.target;
          const said = saidBy(channel_id, `the upstream failed: ${submitted.message}`);
          this.deps.onError(said, work.id);
        }
        return {
          report: { type: 'UPSTREAM_FAILED', error_code: taskErrorCode(submitted.reason) },
          inTransaction: (tx) => storeError(tx, work.id, submitted.public_message),
        };
      default:
        return submitted satisfies never;
    }
  }

  private failed(
    error: unknown,
    work: TaskWork,
    permit: ChannelPermit,
    hasOtherChannel: boolean,
    isRepeat: boolean,
  ): SubmissionReport {
    // An error that the client caused is shown to the client only, and not logged.
    if (!(error instanceof TerminalUpstreamError)) {
      this.deps.onError(withoutOwnWords(error, permit.channel.config.id), work.id);
    }
    if (error instanceof TerminalUpstreamError) {
      permit.abandoned();
      return {
        report: { type: 'UPSTREAM_FAILED', error_code: error.error_id },
        inTransaction: (tx) => storeError(tx, work.id, error.public_message),
      };
    }
    if (!(error instanceof RetryableUpstreamError)) {
      // The answer was lost or timed out, so the upstream may have received the request.
      const failure = error instanceof LostSubmissionError ? 'connection' : 'timeout';
      permit.failed(new RetryableUpstreamError(failure, String(error)));
      return this.lost();
    }
    permit.failed(error, hasOtherChannel);
    // The upstream refused this attempt. It may have accepted an earlier one.
    if (isRepeat) return this.lost();
    const { own, platform } = servingTask(this.deps, work);
    const serving = [...own, ...platform];
    const isOpen = serving.some(({ state }) => state !== 'healthy' && state !== 'degraded');
    // To send the same request again does not help if no channel was throttled or broken.
    if (error.failure === 'unclear' && !hasOtherChannel && !isOpen) {
      const { error_id = 'upstream_error' } = error;
      return {
        report: { type: 'UPSTREAM_FAILED', error_code: error_id },
        inTransaction: (tx) => storeError(tx, work.id, refusedMessage(error.public_message)),
      };
    }
    const channels = serving.length;
    return {
      report: {
        type: 'SUBMIT_REJECTED',
        channel_id: permit.channel.config.id,
        retryable: true,
        more: hasOtherChannel,
        busy: false,
        error_code: rejectionErrorCode(error.failure, channels),
        retry_after_ms: error.retry_after_ms ?? 0,
        random: this.deps.random(),
      },
      inTransaction: (tx) => clearSubmission(tx, work.id, error),
    };
  }

  /** Returns the event for a job that no channel could take now. */
  private noChannelEvent(work: TaskWork, routes: readonly Route[]): TaskEvent {
    const now = this.deps.now();
    const soonest = Math.min(...routes.map(({ channel }) => channel.availableAt()));
    const throttled = routes.every(
      ({ channel }) => channel.state === 'open' && channel.snapshot.context.reason === 'throttle',
    );
    if (routes.length === 0)
      this.deps.onError(new Error(`no channel serves ${work.model}`), work.id);
    return {
      type: 'SUBMIT_REJECTED',
      channel_id: null,
      retryable: true,
      more: false,
      busy: soonest <= now,
      error_code: throttled && routes.length > 0 ? 'rate_limit_exceeded' : 'all_channels_failed',
      retry_after_ms: Number.isFinite(soonest) ? Math.max(0, Math.ceil(soonest - now)) : 0,
      random: this.deps.random(),
    };
  }

  private call(work: TaskWork, route: Route, signal: AbortSignal) {
    return {
      target: route.target,
      physical_model: route.physical_model,
      public_model: work.model,
      input: work.input,
      idempotency_key: work.submission_key,
      signal,
    };
  }

  private submitted(channel_id: string): TaskEvent {
    return { type: 'SUBMITTED', channel_id, random: this.deps.random() };
  }

  private lost(): SubmissionReport {
    return { report: { type: 'LOST', random: this.deps.random() } };
  }

  /**
   * Reports that the outcome is still unknown. `hopeless` is true in the report if `hopeless_ms`
   * have passed since the submission, or if no submission is recorded.
   */
  private unanswered(work: TaskWork, hopeless_ms = Number.POSITIVE_INFINITY): SubmissionReport {
    const hopeless = (work.submitted_ms_ago ?? Number.POSITIVE_INFINITY) >= hopeless_ms;
    return { report: { type: 'UNANSWERED', hopeless, random: this.deps.random() } };
  }
}
