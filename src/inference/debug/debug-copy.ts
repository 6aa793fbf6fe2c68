import type { OpenWindow } from '../../../db/debug/windows.ts';

/** All copies that a replica has in memory at one time have at most this size together. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

/** Bytes of the copies in the memory of this replica. */
let held_bytes = 0;

/** What is known of a request when its copy begins. */
export interface CopiedRequest {
  /** UUID of the request. */
  readonly id: string;
  readonly key: { readonly id: string; readonly organization_id: string };
  /** Without the query, because a query may have a credential. */
  readonly path: string;
  readonly content_type: string | null;
}

/** The first bytes of one body. */
class StartOfBody {
  /** The size of the whole body. */
  bytes = 0;
  private isCut = false;
  private readonly pieces: Uint8Array[] = [];

  constructor(private readonly max_bytes: number) {}

  add(piece: Uint8Array): void {
    const room = this.max_bytes - this.bytes;
    this.bytes += piece.byteLength;
    // After a piece that was left out, later pieces would be at the wrong place.
    this.isCut ||= room <= 0 || held_bytes > MAX_HELD_BYTES;
    if (this.isCut) return;
    // Without a copy, a few bytes would keep a large buffer in memory.
    const kept = Uint8Array.from(piece.subarray(0, room));
    held_bytes += kept.byteLength;
    this.pieces.push(kept);
  }

  /** Returns the kept bytes, and frees their memory. */
  take(): Buffer {
    const start = Buffer.concat(this.pieces.splice(0));
    held_bytes -= start.byteLength;
    return start;
  }
}

/**
 * The request and the answer of one call, while a debug window is open. If the replica holds too many
 * copies, bodies are cut earlier.
 */
export class DebugCopyDraft {
  readonly request: StartOfBody;
  readonly answer: StartOfBody;
  status = 0;
  answer_type: string | null = null;
  /** True if the writer of a stream adds its pieces and the end of the record ends the copy. */
  private isTapped = false;
  private hasHead = false;
  private isOver = false;
  private isGiven = false;

  constructor(
    readonly window: OpenWindow,
    readonly about: CopiedRequest,
    private readonly onEnded: (copy: DebugCopyDraft) => void,
  ) {
    this.request = new StartOfBody(window.max_body_bytes);
    this.answer = new StartOfBody(window.max_body_bytes);
  }

  /** Adds a part of the answer, as it is sent to the client. */
  add(piece: string | Uint8Array): void {
    this.answer.add(typeof piece === 'string' ? Buffer.from(piece) : piece);
  }

  /** Called by the writer of a stream that adds each piece itself. */
  tap(): void {
    this.isTapped = true;
  }

  /**
   * Copies a response. `isStream` is true if the body must not be read before it is sent. Returns the
   * response that is sent instead.
   */
  async copy(response: Response, isStream: boolean, client: AbortSignal): Promise<Response> {
    if (this.hasHead) return response;
    this.hasHead = true;
    this.status = response.status;
    this.answer_type = response.headers.get('content-type');
    if (this.isTapped) {
      this.giveIfComplete();
      return response;
    }
    if (isStream && response.body) {
      return new Response(this.through(response.body, client), response);
    }
    const body = await response.bytes();
    this.add(body);
    this.end();
    return new Response(body, response);
  }

  /** Ends the copy of a stream whose writer adds the pieces. */
  endTapped(): void {
    if (this.isTapped) this.end();
  }

  private end(): void {
    this.isOver = true;
    this.giveIfComplete();
  }

  /** The stream may end before its response is known. */
  private giveIfComplete(): void {
    if (!this.isOver || !this.hasHead || this.isGiven) return;
    this.isGiven = true;
    this.onEnded(this);
  }

  /** Returns a stream with the same bytes, which are copied as they are read. */
  private through(
    source: ReadableStream<Uint8Array>,
    client: AbortSignal,
  ): ReadableStream<Uint8Array> {
    const reader = source.getReader();
    const onEnd = () => {
      client.removeEventListener('abort', onEnd);
      this.end();
    };
    // If a client leaves, Bun does not always cancel the body.
    client.addEventListener('abort', onEnd);
    return new ReadableStream<Uint8Array>({
      pull: async (to) => {
        try {
          const { done, value } = await reader.read();
          if (value) {
            this.add(value);
            to.enqueue(value);
          }
          if (!done) return;
          onEnd();
          to.close();
        } catch (error) {
          onEnd();
          to.error(error);
        }
      },
      cancel(reason) {
        onEnd();
        return reader.cancel(reason);
      },
    });
  }
}
