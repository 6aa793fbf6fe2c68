import type { Bus } from '../../actors/bus/bus.ts';
import type { Clock, IdSource } from '../../actors/clock.ts';
import { requestIdOf } from '../../errors/request-id.ts';
import type { CallRecord } from './call-record.ts';

/** The most calls of one replica in a list: the oldest ones. The sums count all. */
const MAX_LISTED = 100;
/** Calls in one message. A message must fit into a notification of PostgreSQL. */
const CALLS_PER_MESSAGE = 12;
/** How long a list waits for the other replicas. */
const WAIT_MS = 400;

/** A call that runs now. */
export interface RunningCall {
  readonly request_id: string;
  readonly api_key_id: string;
  readonly organization_id: string;
  readonly stage: string;
  readonly age_ms: number;
  readonly protocol: string;
  readonly program: string;
  readonly scene: string;
  readonly model: string;
  readonly stream: boolean;
  readonly held_nano_usd: number;
  readonly tokens_so_far: number;
  /** Internal: only operators may see it (P5). */
  readonly channel_id: string;
  /** Internal, too. */
  readonly replica_id: string;
}

/** The running calls of one organization, or of all. */
export interface RunningCallList {
  /** The oldest first. */
  readonly calls: readonly RunningCall[];
  /** The number of running calls, also of those that are not listed. */
  readonly total: number;
  readonly held_nano_usd: number;
  /** Replicas that answered, and known replicas that did not answer in time. */
  readonly replicas: number;
  readonly silent_replicas: number;
}

export interface RunningCallsDeps {
  readonly bus: Pick<Bus, 'publish' | 'subscribe' | 'peerCount'>;
  readonly running: ReadonlySet<CallRecord>;
  readonly replica_id: () => string;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** One question that waits for answers. */
interface Question {
  readonly answered: Set<string>;
  readonly calls: RunningCall[];
  total: number;
  held_nano_usd: number;
  readonly onAnswer: () => void;
}

/**
 * Lists the calls that run on all replicas. Nothing is stored: a replica asks the others over the
 * bus, and each answers from its memory.
 */
export class RunningCalls {
  private readonly questions = new Map<string, Question>();
  private readonly unsubscribe: readonly (() => void)[];

  constructor(private readonly deps: RunningCallsDeps) {
    const { bus } = deps;
    this.unsubscribe = [
      bus.subscribe('calls_asked', { onMessage: (asked) => this.onAsked(asked), onGap: () => {} }),
      bus.subscribe('calls', { onMessage: (answer) => this.onAnswer(answer), onGap: () => {} }),
    ];
  }

  stop(): void {
    for (const end of this.unsubscribe) end();
  }

  /** Lists the running calls of an organization; of all organizations if it is null. */
  async list(organization_id: string | null): Promise<RunningCallList> {
    const { bus, clock, ids, replica_id } = this.deps;
    const ask = ids.uuid();
    const own = this.ownCalls(organization_id);
    const { promise, resolve } = Promise.withResolvers<void>();
    const question: Question = { ...own, answered: new Set(), onAnswer: resolve };
    const peers = bus.peerCount;
    if (peers > 0) {
      this.questions.set(ask, question);
      const cancel = clock.after(WAIT_MS, resolve);
      bus.publish('calls_asked', { ask, replica: replica_id(), organization_id });
      await promise;
      cancel();
      this.questions.delete(ask);
    }
    const { calls, total, held_nano_usd, answered } = question;
    return {
      calls: calls.toSorted((a, b) => b.age_ms - a.age_ms).slice(0, MAX_LISTED),
      ...{ total, held_nano_usd, replicas: answered.size + 1 },
      silent_replicas: Math.max(0, peers - answered.size),
    };
  }

  private onAsked(asked: { ask: string; replica: string; organization_id: string | null }): void {
    const { bus, replica_id } = this.deps;
    if (asked.replica === replica_id()) return;
    const { calls, total, held_nano_usd } = this.ownCalls(asked.organization_id);
    const parts = Math.max(1, Math.ceil(calls.length / CALLS_PER_MESSAGE));
    for (let part = 1; part <= parts; part += 1) {
      const isLast = part === parts;
      bus.publish('calls', {
        ...{ ask: asked.ask, replica: replica_id(), is_last: isLast },
        // Sums come once.
        ...(isLast ? { total, held_nano_usd } : { total: 0, held_nano_usd: 0 }),
        calls: calls.slice((part - 1) * CALLS_PER_MESSAGE, part * CALLS_PER_MESSAGE),
      });
    }
  }

  private onAnswer(answer: {
    ask: string;
    replica: string;
    is_last: boolean;
    total: number;
    held_nano_usd: number;
    calls: RunningCall[];
  }): void {
    const question = this.questions.get(answer.ask);
    if (!question || answer.replica === this.deps.replica_id()) return;
    question.calls.push(...answer.calls);
    question.total += answer.total;
    question.held_nano_usd += answer.held_nano_usd;
    if (!answer.is_last) return;
    question.answered.add(answer.replica);
    if (question.answered.size >= this.deps.bus.peerCount) question.onAnswer();
  }

  /** The calls of this replica, the oldest first: a set has the order of insertion. */
  private ownCalls(organization_id: string | null) {
    const calls: RunningCall[] = [];
    let total = 0;
    let held_nano_usd = 0;
    for (const record of this.deps.running) {
      if (organization_id !== null && record.key.organization_id !== organization_id) continue;
      total += 1;
      held_nano_usd += record.held_nano_usd;
      if (calls.length < MAX_LISTED) calls.push(this.viewOf(record));
    }
    return { calls, total, held_nano_usd };
  }

  private viewOf(record: CallRecord): RunningCall {
    const { request, key, scene, model, stream, stage, held_nano_usd, channel_id } = record;
    return {
      ...{ request_id: requestIdOf(request.id), api_key_id: key.id, scene, model, stream, stage },
      ...{ organization_id: key.organization_id, channel_id, held_nano_usd },
      ...{ protocol: request.protocol, program: request.program },
      age_ms: Math.round(performance.now() - request.arrived_ms),
      tokens_so_far: Math.round(record.tokens_so_far),
      replica_id: this.deps.replica_id(),
    };
  }
}
