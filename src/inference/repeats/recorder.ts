import type { CallSignal } from '../../upstreams/contract.ts';
import { AnswerRecord } from './answer-record.ts';
import { ClientRelay } from './client-relay.ts';

/** A streamed answer that has ended. */
export interface RecordedAnswer {
  readonly head: Response;
  readonly body: Uint8Array | 'too_large' | 'no_room';
  /** True if the body broke off. */
  readonly is_broken: boolean;
}

/**
 * Records the streamed answer of a call with an idempotency key, and passes it to the client. The
 * call continues if the client leaves. The end of the answer is held back until the answer is kept.
 */
export class AnswerRecorder {
  private readonly record = new AnswerRecord();
  private readonly relay: ClientRelay;
  private readonly head = Promise.withResolvers<Response>();
  private kept: Promise<void> | undefined;
  /** True after `start` or `copy`: the call sends its answer as a stream through this recorder. */
  isStreaming = false;

  /**
   * `client` is aborted when the client leaves. `keepAnswer` is called once. It resolves when the
   * answer is committed, and rejects if that failed.
   */
  constructor(
    client: CallSignal,
    private readonly keepAnswer: (answer: RecordedAnswer) => Promise<void>,
  ) {
    this.relay = new ClientRelay(client);
  }

  /**
   * Starts `work`, which writes the answer to this recorder, and returns the body of the response.
   * `work` must not reject.
   */
  start(work: (recorder: AnswerRecorder) => Promise<void>): ReadableStream<Uint8Array> {
    this.isStreaming = true;
    void work(this);
    return this.relay.body;
  }

  /** Sets the response whose status and headers are kept with the body. */
  setHead(response: Response): void {
    this.head.resolve(response);
  }

  /**
   * Records a piece and sends it. Returns a promise if the client must read before more is sent.
   */
  write(piece: string | Uint8Array): Promise<void> | undefined {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    this.record.add(bytes);
    return this.relay.write(bytes);
  }

  /** Each piece is sent at once, so there is nothing to flush. */
  flush(): void {}

  /**
   * Keeps the recorded pieces and `last`, which `end` sends later. Resolves when the answer is
   * committed. Only the first call has an effect; later calls resolve at once.
   */
  async keep(last: string | Uint8Array, is_broken = false): Promise<void> {
    if (this.kept) return;
    this.record.add(typeof last === 'string' ? Buffer.from(last) : last);
    const body = this.record.take();
    this.kept = this.head.promise.then((head) => this.keepAnswer({ head, body, is_broken }));
    await this.kept;
  }

  /** Sends the last piece, and ends the body. Call `keep` first. */
  end(last: string | Uint8Array = ''): void {
    this.relay.write(typeof last === 'string' ? Buffer.from(last) : last);
    this.relay.end();
  }

  /**
   * Records the stream `source`, and returns a stream with the same bytes for the client. The last
   * piece is held back until the answer is kept. If `source` fails, the returned stream breaks off
   * after the pieces that were sent.
   */
  copy(source: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    return this.start(async () => {
      try {
        let held: Uint8Array = new Uint8Array();
        for await (const piece of source) {
          if (held.byteLength > 0) await this.write(held);
          held = piece;
        }
        await this.keep(held);
        this.end(held);
      } catch (error) {
        // The failed stream has reported its error already.
        await this.keep('', true).catch(() => undefined);
        this.relay.breakOff(error);
      }
    });
  }
}
