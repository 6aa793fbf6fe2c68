import type { CallSignal } from '../../upstreams/contract.ts';
import { untilAborted } from '../../upstreams/transport/deadlines.ts';

/** The writer waits if this many pieces were sent and not read. */
export const MAX_UNREAD_PIECES = 64;

/**
 * Passes an answer to its client while the client is there. The answer goes on without its client:
 * then pieces are discarded. While the client is there and reads slowly, the writer waits for it.
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

  /** Sends a piece. Returns a promise if the client must read, or leave, before more is sent. */
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

  /** Breaks the body off, so that the client knows that it is incomplete. */
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
