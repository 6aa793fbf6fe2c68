import type { CallSignal } from '../../upstreams/contract.ts';
import { untilAborted } from '../../upstreams/transport/deadlines.ts';

/** The writer waits while the client has not read this many pieces. */
export const MAX_UNREAD_PIECES = 64;

/**
 * Sends an answer to its client, piece by piece. If the client reads slowly, the writer waits. If
 * the client leaves, the writer continues without waiting, and the relay discards the further
 * pieces.
 */
export class ClientRelay {
  /** The body of the response. */
  readonly body: ReadableStream<Uint8Array>;
  private controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  private hasLeft = false;
  private room: PromiseWithResolvers<void> | undefined;

  /** `client` is aborted when the client leaves. */
  constructor(private readonly client: CallSignal) {
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.controller = controller;
        },
        pull: () => this.onRead(),
        cancel: () => {
          this.controller = undefined;
          this.leave();
        },
      },
      { highWaterMark: MAX_UNREAD_PIECES },
    );
  }

  /**
   * Sends a piece. Returns a promise if the writer must wait. The promise resolves when the client
   * has read, or has left.
   */
  write(piece: Uint8Array): Promise<void> | undefined {
    if (!this.isThere()) return undefined;
    this.controller?.enqueue(piece);
    if ((this.controller?.desiredSize ?? 1) > 0) return undefined;
    this.room ??= Promise.withResolvers();
    return untilAborted(this.room.promise, this.client).catch(() => this.leave());
  }

  /** Ends the body. */
  end(): void {
    if (this.isThere()) this.controller?.close();
    this.controller = undefined;
  }

  /** Breaks the body off, so that the client knows that the answer is incomplete. */
  breakOff(error: unknown): void {
    if (this.isThere()) this.controller?.error(error);
    this.controller = undefined;
  }

  private isThere(): boolean {
    if (this.client.aborted) this.leave();
    return !this.hasLeft;
  }

  private leave(): void {
    this.hasLeft = true;
    this.controller?.close();
    this.controller = undefined;
    this.onRead();
  }

  private onRead(): void {
    this.room?.resolve();
    this.room = undefined;
  }
}
