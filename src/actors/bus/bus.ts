import type { Clock, IdSource } from '../clock.ts';
import { type Envelope, parseEnvelope } from './envelope.ts';
import { GapSignal } from './gap-signal.ts';
import { isMessage, isTopic, type Messages, TOPICS, type Topic } from './messages.ts';
import { Outgoing } from './outgoing.ts';
import { Peers } from './peers.ts';
import { Sender } from './sender.ts';
import { type Subscriber, Subscribers } from './subscribers.ts';
import type { Transport } from './transport.ts';

/**
 * How often a replica sends a heartbeat, i.e. the number of its latest envelope. A tick is the
 * start of such an interval.
 */
const BUS_HEARTBEAT_MS = 500;
/** A sender that is silent for more ticks than this, i.e. for 1.5 to 2 s, counts as dead. */
const MAX_SILENT_TICKS = 3;
/** While the transport is down, one gap is reported per this many ticks, i.e. each second. */
const TICKS_PER_GAP = 2;
/**
 * If no own heartbeat arrives for this many ticks, i.e. 10 s, the transport gets new connections.
 */
const TICKS_PER_RESTART = 20;
/** How long the start waits for a transport that is down. */
const START_WAIT_MS = 2_000;
/** How long the stop waits until the last messages are sent. */
const STOP_WAIT_MS = 1_000;

export interface BusDeps {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly replica_id: () => string;
  /** Called if the transport starts to fail, or if a subscriber throws. Must not throw. */
  readonly onError: (error: unknown) => void;
}

/**
 * Carries all messages between replicas. A message is a hint: if it may be lost, the bus reports a
 * gap to the subscribers of its topic, and they read the rows in the database again.
 *
 * The sender publishes after its commit. So a receiver that reads when a message or a gap arrives
 * reads the committed change. Each sender numbers its envelopes and repeats its latest number in a
 * heartbeat. A receiver reports a gap if:
 *
 * - a number is missing. The message was lost on its way, or its sender dropped it.
 * - a sender falls silent. The sender may have died between its commit and its message. The
 *   receiver forgets this sender.
 * - a new sender's first number is not 1. The receiver had forgotten this silent sender, or the
 *   first messages were lost.
 * - this replica's own heartbeat does not arrive. Then the transport is down. A gap is reported
 *   each second, and once more when the transport works again.
 * - the transport subscribed again. While it was not subscribed, a sender may have started,
 *   published and died.
 * - a message is malformed, or its sender reports that messages were lost.
 *
 * While a replica starts, it accepts any first number of a sender and reports no gap. Each message
 * from before the subscription belongs to an earlier commit, and the replica reads the rows after
 * `start`. If a sender loses a message at that moment, its next envelope reports this. One case
 * remains: a sender that commits and dies within 500 ms after this replica's subscription may be
 * unknown here. Its client got no answer, so the client repeats the request.
 *
 * A late envelope is ignored, because its loss was already reported. A repeated envelope is
 * ignored, because it was already delivered. If a gap follows another one within 500 ms, it is
 * reported at the end of this time; no gap is left out. This process gets its own messages at
 * once, without the transport.
 */
export class Bus {
  private readonly run: string;
  private readonly outgoing: Outgoing;
  private readonly sender: Sender;
  private readonly peers = new Peers(MAX_SILENT_TICKS);
  private readonly subscribers: Subscribers;
  private readonly gapSignal: GapSignal;
  private state: 'new' | 'starting' | 'running' | 'stopped' = 'new';
  private startingTicks = MAX_SILENT_TICKS;
  /** The number of ticks since an envelope of this process last arrived here. */
  private silentTicks = 0;
  private gapCount = 0;
  private cancelTick: () => void = () => undefined;

  constructor(private readonly deps: BusDeps) {
    const { transport, clock, ids, replica_id, onError } = deps;
    this.run = ids.uuid();
    this.outgoing = new Outgoing(this.run, replica_id, transport.max_bytes);
    this.sender = new Sender({ transport, clock, outgoing: this.outgoing, onError });
    this.subscribers = new Subscribers(onError);
    this.gapSignal = new GapSignal(clock, (topics) => {
      this.gapCount += 1;
      this.subscribers.reportGap(topics);
    });
  }

  /** The number of gaps reported so far. */
  get gaps(): number {
    return this.gapCount;
  }

  /** The number of other replicas whose heartbeats arrive. */
  get peerCount(): number {
    return this.peers.size;
  }

  /**
   * Sends `message` to every replica. This replica gets the message before `publish` returns. Never
   * throws, never waits. Call `publish` after the commit of the change.
   */
  publish<T extends Topic>(topic: T, message: Messages[T]): void {
    if (this.deps.transport.reaches_others) {
      this.outgoing.push(topic, message);
      this.sender.wake();
    }
    this.subscribers.deliver(topic, message);
  }

  /**
   * Reports a gap to every replica, this one included. Call it if the outcome of a commit is
   * unknown: then its messages cannot be published.
   */
  publishGap(topic: Topic): void {
    if (this.deps.transport.reaches_others) {
      this.outgoing.noteLost([topic]);
      this.sender.wake();
    }
    this.gapSignal.request([topic]);
  }

  /** Returns a function that ends the subscription. */
  subscribe<T extends Topic>(topic: T, subscriber: Subscriber<Messages[T]>): () => void {
    return this.subscribers.add(topic, subscriber);
  }

  /**
   * Resolves when this replica gets the messages of the other replicas, or after 2 s if the
   * transport is down. The caller must read the subscribers' rows after `start`, not before.
   */
  async start(): Promise<void> {
    const { transport, clock, onError } = this.deps;
    if (!transport.reaches_others) return;
    this.state = 'starting';
    const subscribed = transport
      .start({ onText: (text) => this.onText(text), onSubscribed: () => this.onSubscribed() })
      .catch(onError);
    await withinTime(clock, START_WAIT_MS, subscribed);
    this.state = 'running';
    this.sender.start();
    this.tick();
  }

  /** Sends the waiting messages, then announces this process's end, and closes the transport. */
  async stop(): Promise<void> {
    this.gapSignal.stop();
    this.cancelTick();
    if (this.state === 'running') {
      await withinTime(this.deps.clock, STOP_WAIT_MS, this.sender.stop());
    }
    this.state = 'stopped';
    await this.deps.transport.stop();
  }

  private onSubscribed(): void {
    if (this.state === 'running') this.gapSignal.request(TOPICS);
  }

  private onText(text: string): void {
    const envelope = text.length <= this.deps.transport.max_bytes ? parseEnvelope(text) : undefined;
    if (!envelope) this.gapSignal.request(TOPICS);
    else if (envelope.run === this.run) this.onOwnEnvelope();
    else this.onEnvelope(envelope);
  }

  private onOwnEnvelope(): void {
    if (this.silentTicks > MAX_SILENT_TICKS) this.gapSignal.request(TOPICS);
    this.silentTicks = 0;
  }

  private onEnvelope(envelope: Envelope): void {
    const { isNew, isGap } = this.peers.onEnvelope(envelope, this.startingTicks > 0);
    if (isGap) this.gapSignal.request(TOPICS);
    if (!isNew) return;
    for (const [topic, message] of envelope.messages) {
      // A topic of a newer version has no subscriber here.
      if (!isTopic(topic)) continue;
      if (isMessage(topic, message)) this.subscribers.deliver(topic, message);
      else this.gapSignal.request([topic]);
    }
  }

  private tick(): void {
    this.cancelTick = this.deps.clock.after(BUS_HEARTBEAT_MS, () => this.tick());
    this.startingTicks = Math.max(0, this.startingTicks - 1);
    this.sender.heartbeat();
    if (this.peers.tick()) this.gapSignal.request(TOPICS);
    this.silentTicks += 1;
    const ticksAway = this.silentTicks - MAX_SILENT_TICKS;
    if (ticksAway > 0 && ticksAway % TICKS_PER_GAP === 1) this.gapSignal.request(TOPICS);
    if (this.silentTicks % TICKS_PER_RESTART === 0) this.deps.transport.restart();
  }
}

/** Resolves when `work` does, but after `wait_ms` at the latest. */
function withinTime(clock: Clock, wait_ms: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(wait_ms, resolve);
    const end = () => {
      cancel();
      resolve();
    };
    work.then(end, end);
  });
}
