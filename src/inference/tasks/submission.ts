import {
  beginSubmission,
  clearSubmission,
  storeError,
  storeJob,
  storeProduced,
} from '../../../db/tasks/progress.ts';
import { findTaskWork } from '../../../db/tasks/rows.ts';
import type { ChannelPermit } from '../../actors/channels/channel.ts';
import type { Effect, EffectContext, EffectReport } from '../../actors/durable/kind.ts';
import type { TaskEvent } from '../../machines/task-events.ts';
import { RetryableUpstreamError, TerminalUpstreamError } from '../../upstreams/contract.ts';
import { LostSubmissionError, type Submitted } from '../../upstreams/generation/contract.ts';
import { orderChannels } from '../routing/order.ts';
import {
  ownRoute,
  type Route,
  routeOver,
  type TaskEffectDeps,
  type TaskWork,
  workOf,
} from './deps.ts';
import { rejectionErrorCode, taskErrorCode } from './failures.ts';
import { recordOf } from './results.ts';
import type { RunningSubmissions } from './running.ts';

/**
 * Where a protocol can neither be asked nor told again, nobody will ever know more. Only a replica
 * that was thought dead may still bring the answer: it gets this long.
 */
const LAST_HOPE_MS = 15_000;
/** An upstream that knows no such submission for this long has none: jobs are seen sooner. */
const NOT_THERE_MS = 30_000;
const ASK_TIMEOUT_MS = 30_000;

/** Its client left before there was anything to deliver. */
const CANCELLED: Said = { report: { type: 'UPSTREAM_FAILED', error_code: 'request_cancelled' } };

type Said = { report: TaskEvent } & Pick<EffectReport, 'inTransaction'>;

/** The effects `submit` and `locate`: getting a job to an upstream, at most once (P10). */
export class Submission {
  constructor(
    private readonly deps: TaskEffectDeps,
    private readonly running: RunningSubmissions,
  ) {}

  /**
   * Sends the job to the first channel that takes a call. Before anything is sent the task's row
   * says so: whoever runs this again after a crash knows that the outcome is unknown.
   */
  readonly submit: Effect = async (params, context) => {
    const work = workOf(await findTaskWork(this.deps.sql, context.actor_id, true));
    const known = this.known(work);
    if (known) return known;
    if (work.submitted_ms_ago !== null) return this.sendAgain(work, context);
    if (this.running.clientLeft(work.id)) return CANCELLED;
    const { tried, pinned } = params as unknown as { tried: string[]; pinned: string | null };
    const routes = this.routes(work, tried, pinned);
    // Those that hold back are asked last, and urgently.
    for (const urgent of [false, true]) {
      for (const route of routes) {
        const permit = route.channel.tryAcquire('job', urgent);
        if (!permit) continue;
        if (!(await this.begin(work, permit))) return this.lost();
        const more = routes.some((other) => other !== route && other.channel.canTake());
        return this.attempt(work, route, permit, context, more);
      }
    }
    return { report: this.unserved(work, routes) };
  };

  /** Finds out what became of a submission whose answer was lost. */
  readonly locate: Effect = async (_, context) => {
    const work = workOf(await findTaskWork(this.deps.sql, context.actor_id, true));
    const known = this.known(work);
    if (known) return known;
    const route = ownRoute(this.deps, work);
    if (!route) return this.unanswered(work);
    if (route.protocol.idempotent) return this.repeat(work, route, context);
    if (!route.protocol.find) return this.unanswered(work, LAST_HOPE_MS);
    try {
      const signal = AbortSignal.any([context.signal, AbortSignal.timeout(ASK_TIMEOUT_MS)]);
      const job = await route.protocol.find(this.call(work, route, signal));
      if (job) return await this.accepted(work, route, { type: 'accepted', job });
      return this.unanswered(work, NOT_THERE_MS);
    } catch (error) {
      this.deps.onError(error, work.id);
      return this.unanswered(work);
    }
  };

  /** What an earlier run of the effect has already written down. */
  private known({ produced, job, channel_id }: TaskWork): Said | undefined {
    if (produced) return { report: { type: 'PRODUCED', outputs: produced.outputs.length } };
    if (job && channel_id) return { report: this.submitted(channel_id) };
    return undefined;
  }

  private routes(work: TaskWork, tried: readonly string[], pinned: string | null): Route[] {
    const serving = this.deps.channels
      .serving(work.model)
      .filter(({ config }) => !tried.includes(config.id) && (pinned ?? config.id) === config.id);
    const policy = this.deps.catalogue().find(work.model)?.declaration.routing?.policy;
    return orderChannels(serving, this.deps.random, policy).flatMap(
      (channel) => routeOver(this.deps, channel, work.model) ?? [],
    );
  }

  private async begin(work: TaskWork, permit: ChannelPermit): Promise<boolean> {
    try {
      const begun = await beginSubmission(this.deps.sql, work.id, permit.channel.config.id);
      if (!begun) permit.abandoned();
      return begun;
    } catch (error) {
      permit.abandoned();
      throw error;
    }
  }

  /** The process died between sending and writing down: only an idempotent upstream is told again. */
  private async sendAgain(work: TaskWork, context: EffectContext): Promise<Said> {
    const route = ownRoute(this.deps, work);
    if (!route?.protocol.idempotent) return this.lost();
    const permit = route.channel.tryAcquire('job', true);
    if (!permit) return this.lost();
    return this.attempt(work, route, permit, context, false, true);
  }

  private async repeat(work: TaskWork, route: Route, context: EffectContext): Promise<Said> {
    const permit = route.channel.tryAcquire('job', true);
    if (!permit) return this.unanswered(work);
    const said = await this.attempt(work, route, permit, context, false, true);
    return said.report.type === 'LOST' ? this.unanswered(work) : said;
  }

  /** `again` = an earlier submission with the same key may have been accepted. */
  private async attempt(
    work: TaskWork,
    route: Route,
    permit: ChannelPermit,
    context: EffectContext,
    more: boolean,
    again = false,
  ): Promise<Said> {
    const timeout = AbortSignal.timeout(route.target.timeout_ms);
    const bound = AbortSignal.any([context.signal, timeout]);
    // A job is cancelled by its id; only where the answer is the result is the call itself cut.
    const watch = route.protocol.poll ? undefined : this.running.watch(work.id, bound);
    let submitted: Submitted;
    try {
      submitted = await route.protocol.submit(this.call(work, route, watch?.signal ?? bound));
    } catch (error) {
      if (watch?.left()) {
        permit.abandoned();
        return CANCELLED;
      }
      return this.failed(error, work, permit, more, again);
    } finally {
      watch?.end();
    }
    permit.succeeded();
    return this.accepted(work, route, submitted);
  }

  private async accepted(work: TaskWork, route: Route, submitted: Submitted): Promise<Said> {
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
          this.deps.onError(new Error(`the upstream failed: ${submitted.message}`), work.id);
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
    more: boolean,
    again: boolean,
  ): Said {
    // What the client asked for wrongly is for the client to know.
    if (!(error instanceof TerminalUpstreamError)) this.deps.onError(error, work.id);
    if (error instanceof TerminalUpstreamError) {
      permit.abandoned();
      return {
        report: { type: 'UPSTREAM_FAILED', error_code: error.error_id },
        inTransaction: (tx) => storeError(tx, work.id, error.public_message),
      };
    }
    if (!(error instanceof RetryableUpstreamError)) {
      // Lost, or cut by a time-out: the request may have arrived.
      const failure = error instanceof LostSubmissionError ? 'connection' : 'timeout';
      permit.failed(new RetryableUpstreamError(failure, String(error)));
      return this.lost();
    }
    permit.failed(error, more);
    // This attempt was not accepted, but an earlier one may have been.
    if (again) return this.lost();
    const channels = this.deps.channels.serving(work.model).length;
    return {
      report: {
        type: 'SUBMIT_REJECTED',
        channel_id: permit.channel.config.id,
        retryable: true,
        more,
        busy: false,
        error_code: rejectionErrorCode(error.failure, channels),
        retry_after_ms: error.retry_after_ms ?? 0,
        random: this.deps.random(),
      },
      inTransaction: (tx) => clearSubmission(tx, work.id),
    };
  }

  /** No channel could even be asked. */
  private unserved(work: TaskWork, routes: readonly Route[]): TaskEvent {
    const now = this.deps.now();
    const soonest = Math.min(...routes.map(({ channel }) => channel.availableAt()));
    const throttled = routes.every(
      ({ channel }) => channel.state === 'open' && channel.snapshot.context.reason === 'throttle',
    );
    if (routes.length === 0) this.deps.onError(new Error(`nobody serves ${work.model}`), work.id);
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

  private lost(): Said {
    return { report: { type: 'LOST', random: this.deps.random() } };
  }

  /** After `hopeless_ms` without an answer there will be none. */
  private unanswered(work: TaskWork, hopeless_ms = Number.POSITIVE_INFINITY): Said {
    const hopeless = (work.submitted_ms_ago ?? Number.POSITIVE_INFINITY) >= hopeless_ms;
    return { report: { type: 'UNANSWERED', hopeless, random: this.deps.random() } };
  }
}
