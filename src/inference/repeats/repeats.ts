import type { Sql } from 'postgres';
import {
  claimCall,
  type DropReason,
  dropOldestBodies,
  dropUnwantedBodies,
  type EarlierCall,
  type EndedAnswer,
  endClaim,
  findEarlierCall,
  type RepeatId,
} from '../../../db/repeats/kept-answers.ts';
import { isTransient } from '../../../db/transient.ts';
import type { Clock } from '../../actors/clock.ts';
import { sealBytes, unsealBytes } from '../../config/seal.ts';
import { SOFT_HEADERS } from '../../protocols/soft-headers.ts';
import type { CallSignal } from '../../upstreams/contract.ts';
import { AnswerRecord } from './answer-record.ts';
import { AnswerRecorder } from './recorder.ts';
import {
  inUseError,
  notKeptError,
  notKeptYetError,
  reusedKeyError,
  unknownOutcomeError,
} from './refusals.ts';

/** How long an answer is kept for repeats of its call. */
const KEEP_ANSWERS_MS = 24 * 3_600_000;
/** If the commit of an answer fails, Weir retries it after this pause. */
const END_AGAIN_MS = 1_000;
/**
 * Each time an organization kept this share of `max_bytes` in new answers, its oldest answers are
 * dropped until the rest has at most `max_bytes`.
 */
const TRIM_SHARE = 1 / 16;
/**
 * The most attempts to claim a key. An attempt fails if an earlier call has the key, but is deleted
 * before Weir reads it.
 */
const MAX_CLAIM_TRIES = 5;
/** The headers of an answer that a repeat gets too. */
const KEPT_HEADERS = ['content-type', 'cache-control', ...Object.values(SOFT_HEADERS)];

export interface RepeatsDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  /** Encrypts the kept answers; 32 bytes. */
  readonly key: Uint8Array;
  /** The most bytes of kept answers of one organization. */
  readonly max_bytes: number;
  readonly replica_id: () => string;
  /** Receives errors that cannot reach a client. Must not throw. */
  readonly onError: (error: unknown) => void;
}

/** A call with an idempotency key. */
export interface RepeatableCall {
  readonly key: { readonly id: string; readonly organization_id: string };
  readonly route: string;
  /** The value of the header `Idempotency-Key`. */
  readonly idempotency_key: string;
  /** SHA-256 of path and body, hex. */
  readonly request_hash: string;
  /** UUID; also the id of the call's usage line. */
  readonly request_id: string;
  /** Aborted when the client leaves. */
  readonly client: CallSignal;
  /** Returns the response for an error, in the error format of the route. */
  readonly renderError: (error: unknown) => Response;
}

/** The part of `Repeats` that routes use. */
export type RepeatPort = Pick<Repeats, 'run' | 'dropUnwanted'>;

type Claim = RepeatId & { readonly organization_id: string; readonly request_id: string };

/**
 * Runs calls with an idempotency key once. Repeats get the answer of the first call (P7). All state
 * is in the database, so a repeat may reach any replica.
 */
export class Repeats {
  private readonly running = new Set<Promise<unknown>>();
  /** By organization: the bytes kept since its oldest answers were last dropped. */
  private readonly kept_bytes = new Map<string, number>();
  private isStopped = false;

  constructor(private readonly deps: RepeatsDeps) {}

  /**
   * Runs `work` if no earlier call has the idempotency key. Otherwise returns the first answer.
   * `work` must not end when its client leaves. It writes a streamed answer to the recorder. Throws
   * WeirError if the key was used for another request, if the first call is still running, if its
   * outcome is unknown, or if its answer was not kept. Also throws the errors of `work`.
   */
  async run(
    call: RepeatableCall,
    work: (recorder: AnswerRecorder) => Promise<Response>,
  ): Promise<Response> {
    const { organization_id, id: key_id } = call.key;
    const { route, request_hash, request_id } = call;
    const repeat_hash = Bun.SHA256.hash(call.idempotency_key, 'hex');
    const claim: Claim = { key_id, route, repeat_hash, organization_id, request_id };
    const earlier = await this.claim(claim, request_hash);
    if (earlier) return this.replay(claim, earlier, request_hash);
    const end = Promise.withResolvers<void>();
    this.track(end.promise);
    try {
      return await this.serve(claim, call, work, end.resolve);
    } catch (error) {
      end.resolve();
      throw error;
    }
  }

  /** Deletes the kept answers of all organizations that have switched `keep_answers` off. */
  async dropUnwanted(): Promise<void> {
    let dropped: number;
    do dropped = await dropUnwantedBodies(this.deps.sql);
    while (dropped > 0);
  }

  /** Resolves when no call runs any more. A call continues after its client left. */
  async drain(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
  }

  /** Ends the retries of failed commits of answers. */
  stop(): void {
    this.isStopped = true;
  }

  /** Claims the idempotency key. If an earlier call has the key, returns that call. */
  private async claim(claim: Claim, request_hash: string): Promise<EarlierCall | undefined> {
    const { sql, replica_id } = this.deps;
    for (let tries = 0; tries < MAX_CLAIM_TRIES; tries += 1) {
      const added = { ...claim, request_hash, replica_id: replica_id() };
      if (await claimCall(sql, added, KEEP_ANSWERS_MS)) return undefined;
      const earlier = await findEarlierCall(sql, claim);
      if (earlier) return earlier;
    }
    throw inUseError();
  }

  /** Returns the answer of the earlier call, or throws the reason why there is none. */
  private replay(claim: Claim, earlier: EarlierCall, request_hash: string): Response {
    if (earlier.request_hash !== request_hash) throw reusedKeyError();
    if (earlier.state === 'running') {
      throw earlier.is_owner_alive ? inUseError() : unknownOutcomeError();
    }
    const { body, status } = earlier;
    if (!body || status === null) throw notKeptError(earlier.dropped_because ?? 'switched_off');
    const context = contextOf({ ...claim, request_id: earlier.request_id });
    const plain = unsealBytes(this.deps.key, body, context);
    // SDKs retry some statuses. Each retry would get this same answer, so the header forbids it.
    const marks = { 'idempotent-replayed': 'true', 'x-should-retry': 'false' };
    const headers = { ...earlier.headers, ...marks };
    return new Response(earlier.is_broken ? brokenOff(plain) : plain, { status, headers });
  }

  private async serve(
    claim: Claim,
    call: RepeatableCall,
    work: (recorder: AnswerRecorder) => Promise<Response>,
    onEnd: () => void,
  ): Promise<Response> {
    const recorder = new AnswerRecorder(call.client, ({ head, body, is_broken }) =>
      this.end(claim, this.sealed(claim, head, body, is_broken)).finally(onEnd),
    );
    let response: Response;
    try {
      response = await work(recorder);
    } catch (error) {
      // If the failed call was charged, `end` keeps the error response. Otherwise `end` deletes the
      // claim, so that a repeat runs the call again.
      const rendered = call.renderError(error);
      const answer = this.sealed(claim, rendered, await rendered.bytes(), false);
      await this.end(claim, answer).catch(this.deps.onError);
      throw error;
    }
    if (recorder.isStreaming) {
      recorder.setHead(response);
      return response;
    }
    const record = new AnswerRecord();
    const body = await response.bytes();
    record.add(body);
    await this.end(claim, this.sealed(claim, response, record.take(), false));
    onEnd();
    const { status, headers } = response;
    return new Response(body, { status, headers });
  }

  private sealed(
    claim: Claim,
    { status, headers }: Response,
    body: Uint8Array | DropReason,
    is_broken: boolean,
  ): EndedAnswer {
    if (typeof body === 'string') return { dropped_because: body };
    const kept = KEPT_HEADERS.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    });
    const sealed = sealBytes(this.deps.key, body, contextOf(claim));
    const is_cached = headers.get('x-weir-cache') === 'hit';
    return { status, headers: Object.fromEntries(kept), body: sealed, is_broken, is_cached };
  }

  /**
   * Commits the answer of a claimed call. If the commit fails, throws WeirError, and retries the
   * commit in the background. After that, a repeat gets the answer.
   */
  private async end(claim: Claim, answer: EndedAnswer): Promise<void> {
    try {
      await this.commit(claim, answer);
    } catch (error) {
      this.track(this.commitLater(claim, answer, error));
      throw notKeptYetError(error);
    }
  }

  private async commitLater(claim: Claim, answer: EndedAnswer, cause: unknown): Promise<void> {
    let error = cause;
    while (isTransient(error) && !this.isStopped) {
      await new Promise<void>((resolve) => this.deps.clock.after(END_AGAIN_MS, resolve));
      try {
        return await this.commit(claim, answer);
      } catch (next) {
        error = next;
      }
    }
    this.deps.onError(error);
  }

  private async commit(claim: Claim, answer: EndedAnswer): Promise<void> {
    const added = await endClaim(this.deps.sql, claim, answer);
    const { max_bytes } = this.deps;
    const { organization_id } = claim;
    // The first answer of an organization in this process also drops old answers, because earlier
    // processes may have kept too many.
    const bytes = added + (this.kept_bytes.get(organization_id) ?? max_bytes);
    this.kept_bytes.set(organization_id, bytes);
    if (bytes < max_bytes * TRIM_SHARE) return;
    this.kept_bytes.set(organization_id, 0);
    this.track(
      dropOldestBodies(this.deps.sql, organization_id, max_bytes).catch(this.deps.onError),
    );
  }

  private track(work: Promise<unknown>): void {
    this.running.add(work);
    void work.finally(() => this.running.delete(work));
  }
}

/** Ties an encrypted answer to its call. In another row it cannot be decrypted. */
function contextOf({ key_id, route, repeat_hash, request_id }: Claim): string {
  return JSON.stringify([key_id, route, repeat_hash, request_id]);
}

/** Returns a body that breaks off after the bytes. */
function brokenOff(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let isSent = false;
  return new ReadableStream<Uint8Array>({
    pull(client) {
      if (isSent) client.error(new Error('the first answer broke off here'));
      else client.enqueue(bytes);
      isSent = true;
    },
  });
}
