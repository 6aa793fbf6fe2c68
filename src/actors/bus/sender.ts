import type { Clock } from '../clock.ts';
import type { Outgoing, OutgoingEnvelope } from './outgoing.ts';
import type { Transport } from './transport.ts';

/** Messages that are published within this time share an envelope. */
const GATHER_ENVELOPE_MS = 2;
/** An envelope that the transport does not accept in this time counts as lost. */
export const SEND_TIMEOUT_MS = 2_000;

export interface SenderDeps {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly outgoing: Outgoing;
  /** Called for the first of several failures in a row. Must not throw. */
  readonly onError: (error: unknown) => void;
}

/**
 * Sends the envelopes of this replica one after the other, so that they keep their order. If an
 * envelope cannot be sent, it is not sent again; the next envelope reports its loss.
 */
export class Sender {
  private isRunning = false;
  private sending: Promise<void> | undefined;
  private cancelGathering: (() => void) | undefined;
  private hasFailed = false;

  constructor(private readonly deps: SenderDeps) {}

  /** From now on, `wake` sends messages. Earlier messages are sent with the first heartbeat. */
  start(): void {
    this.isRunning = true;
  }

  /** Sends the waiting messages soon. */
  wake(): void {
    if (!this.isRunning || this.sending || this.cancelGathering) return;
    this.cancelGathering = this.deps.clock.after(GATHER_ENVELOPE_MS, () => {
      this.cancelGathering = undefined;
      this.sendNow();
    });
  }

  /**
   * Sends the waiting messages, or a heartbeat if there are none. Does nothing while an envelope is
   * being sent, because receivers take that envelope as a heartbeat.
   */
  heartbeat(): void {
    if (!this.sending) this.sendNow();
  }

  /**
   * Sends the waiting messages, and then an envelope that announces this process's end. Resolves
   * when the transport has accepted both.
   */
  async stop(): Promise<void> {
    this.isRunning = false;
    this.cancelGathering?.();
    await this.sending;
    if (this.deps.outgoing.isWaiting) await this.sendAll();
    await this.deps.transport.send(this.deps.outgoing.farewell());
  }

  private sendNow(): void {
    this.sending = this.sendAll().finally(() => {
      this.sending = undefined;
      // Messages that were published after the last `take` need another envelope.
      if (this.deps.outgoing.isWaiting && !this.hasFailed) this.wake();
    });
  }

  /** Stops at the first failure; the next heartbeat tries again. */
  private async sendAll(): Promise<void> {
    do await this.send(this.deps.outgoing.take());
    while (this.deps.outgoing.isWaiting && !this.hasFailed);
  }

  private async send({ text, topics }: OutgoingEnvelope): Promise<void> {
    try {
      await this.sendInTime(text);
      this.hasFailed = false;
    } catch (error) {
      this.deps.outgoing.noteLost(topics);
      if (!this.hasFailed) this.deps.onError(error);
      this.hasFailed = true;
    }
  }

  private sendInTime(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.deps.clock.after(SEND_TIMEOUT_MS, () =>
        reject(new Error(`the bus could not send an envelope within ${SEND_TIMEOUT_MS} ms`)),
      );
      this.deps.transport.send(text).then(resolve, reject).finally(cancel);
    });
  }
}
