import type { Envelope } from './envelope.ts';

/**
 * The most senders that a replica remembers. Above this number, the sender that is silent for
 * longest is forgotten.
 */
export const MAX_PEERS = 1_000;

interface Peer {
  /** The number of its latest envelope. */
  seq: number;
  /** The number of ticks since its latest envelope. */
  silentTicks: number;
}

/** What an envelope means for its receiver. */
export interface EnvelopeMeaning {
  /** True if the messages of the envelope are new. */
  readonly isNew: boolean;
  /** True if earlier envelopes are missing. */
  readonly isGap: boolean;
}

/**
 * The other senders, and the number of the latest envelope of each sender. Silence is counted in
 * ticks of the heartbeat, not in milliseconds. So after a pause of this process, one late tick does
 * not make all senders count as dead.
 */
export class Peers {
  /** By the random id of the sender's process, in the order of the latest envelopes. */
  private readonly peers = new Map<string, Peer>();

  /** `maxSilentTicks`: a sender that is silent for more ticks is forgotten. */
  constructor(private readonly maxSilentTicks: number) {}

  get size(): number {
    return this.peers.size;
  }

  /**
   * Records an envelope. `mayAdopt` is true while this replica starts: then any first number of a
   * new sender is accepted, because this replica reads the rows later.
   */
  onEnvelope({ run, seq, messages, last }: Envelope, mayAdopt: boolean): EnvelopeMeaning {
    const isHeartbeat = messages.length === 0;
    const before = isHeartbeat ? seq : seq - 1;
    const known = this.peers.get(run)?.seq ?? (mayAdopt ? before : 0);
    this.peers.delete(run);
    const isForgetful = !last && this.remember(run, Math.max(known, seq));
    // An earlier number is a repetition, or it is late and its loss was already reported.
    return { isNew: !isHeartbeat && seq > known, isGap: before > known || isForgetful };
  }

  /** Forgets all senders that fell silent. Returns true if there was at least one. */
  tick(): boolean {
    const sizeBefore = this.peers.size;
    for (const [run, peer] of this.peers) {
      peer.silentTicks += 1;
      if (peer.silentTicks > this.maxSilentTicks) this.peers.delete(run);
    }
    return this.peers.size < sizeBefore;
  }

  /**
   * Remembers a sender. Returns true if another sender had to be forgotten, so that the loss of its
   * envelopes is no longer noticed.
   */
  private remember(run: string, seq: number): boolean {
    const [oldest] = this.peers.keys();
    const isFull = this.peers.size >= MAX_PEERS && oldest !== undefined;
    if (isFull) this.peers.delete(oldest);
    this.peers.set(run, { seq, silentTicks: 0 });
    return isFull;
  }
}
