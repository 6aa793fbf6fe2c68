import type { Bus } from '../../actors/bus/bus.ts';
import type { Clock, IdSource } from '../../actors/clock.ts';

/** How long a question waits for the other replicas. */
const QUESTION_WAIT_MS = 800;
/** Characters of an answer in one message, which must fit into a notification of PostgreSQL. */
const PART_CHARS = 4_000;
/** A longer answer is not sent: the replica then counts as silent. */
const MAX_PARTS = 500;

export interface QuestionDeps {
  readonly bus: Pick<Bus, 'publish' | 'subscribe' | 'peerCount'>;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly replica_id: () => string;
  /** Answers the question of another replica with JSON. */
  readonly answer: (question: Record<string, unknown>) => unknown;
}

/** The answers of the other replicas. */
export interface Answers<Answer> {
  readonly answers: readonly Answer[];
  /** How many known replicas did not answer in time. */
  readonly silent: number;
}

interface Waiting {
  readonly parts: Map<string, string[]>;
  readonly answers: unknown[];
  readonly onAnswer: () => void;
}

/**
 * Asks the other replicas for what is only in their memory, over the bus. An answer may be longer
 * than a message, so it comes in parts. Nothing is stored.
 */
export class Questions {
  private readonly waiting = new Map<string, Waiting>();
  private readonly unsubscribe: readonly (() => void)[];

  constructor(private readonly deps: QuestionDeps) {
    const { bus } = deps;
    const onGap = () => undefined;
    this.unsubscribe = [
      bus.subscribe('inspect_asked', { onMessage: (asked) => this.onAsked(asked), onGap }),
      bus.subscribe('inspect_answer', { onMessage: (part) => this.onPart(part), onGap }),
    ];
  }

  stop(): void {
    for (const end of this.unsubscribe) end();
  }

  /** Resolves with the answers of the other replicas, after `QUESTION_WAIT_MS` with those that came. */
  async ask<Answer>(question: Record<string, unknown>): Promise<Answers<Answer>> {
    const { bus, clock, ids, replica_id } = this.deps;
    const peers = bus.peerCount;
    if (peers === 0) return { answers: [], silent: 0 };
    const ask = ids.uuid();
    const { promise, resolve } = Promise.withResolvers<void>();
    const answers: unknown[] = [];
    const onAnswer = () => answers.length >= bus.peerCount && resolve();
    this.waiting.set(ask, { parts: new Map(), answers, onAnswer });
    const cancel = clock.after(QUESTION_WAIT_MS, resolve);
    bus.publish('inspect_asked', { ask, replica: replica_id(), question });
    await promise;
    cancel();
    this.waiting.delete(ask);
    return { answers: answers as Answer[], silent: Math.max(0, peers - answers.length) };
  }

  private onAsked(asked: { ask: string; replica: string; question: Record<string, unknown> }) {
    const { bus, replica_id, answer } = this.deps;
    if (asked.replica === replica_id()) return;
    // Base64, because JSON inside of JSON can grow by any factor.
    const json = JSON.stringify(answer(asked.question) ?? null);
    const text = Buffer.from(json).toString('base64');
    const parts = Math.max(1, Math.ceil(text.length / PART_CHARS));
    if (parts > MAX_PARTS) return;
    for (let part = 0; part < parts; part += 1) {
      bus.publish('inspect_answer', {
        ...{ ask: asked.ask, replica: replica_id(), part, parts },
        text: text.slice(part * PART_CHARS, (part + 1) * PART_CHARS),
      });
    }
  }

  private onPart(message: {
    ask: string;
    replica: string;
    part: number;
    parts: number;
    text: string;
  }): void {
    const waiting = this.waiting.get(message.ask);
    if (!waiting || message.replica === this.deps.replica_id()) return;
    const parts = waiting.parts.get(message.replica) ?? [];
    waiting.parts.set(message.replica, parts);
    // Messages of one replica arrive in order. After a lost one the answer is not whole.
    if (parts.push(message.text) < message.parts) return;
    try {
      const answer: unknown = JSON.parse(Buffer.from(parts.join(''), 'base64').toString('utf8'));
      waiting.answers.push(answer);
      waiting.onAnswer();
    } catch {
      // A part was lost.
    }
  }
}
