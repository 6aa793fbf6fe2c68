import { WeirError } from '../../errors/weir-error.ts';

/** A body of at most this many bytes is small. Plain calls have small bodies and small answers. */
export const SMALL_BODY_BYTES = 64 * 1024;
/** An answer above this size is counted until its client has received it. */
const LARGE_ANSWER_BYTES = 1024 * 1024;
/** While a body is small, its key may hold this many times the bytes that are still free. */
const SMALL_BODY_FACTOR = 8;
/** Calls in flight end within seconds, so a refused body soon has room. */
const RETRY_AFTER_S = 5;

/**
 * Limits how many bytes the bodies and answers of all requests in flight have in sum, and shares
 * them between keys (P20). A key may hold at most as many bytes as stay free: one key alone gets
 * half of the limit, two keys get a third each, and there is always room for another key (Choudhury
 * and Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998). For a small
 * body, its key may hold eight times the free bytes. So large bodies of a key do not stop its plain
 * calls, and plain calls of one key do not stop those of another.
 */
export class BodyBudget {
  private counted_bytes = 0;
  private readonly bytes_by_key = new Map<string, number>();

  constructor(private readonly max_bytes: number) {}

  /** The bytes of all bodies and answers in flight. */
  get bytes(): number {
    return this.counted_bytes;
  }

  /** The largest body that can be admitted at all, bytes. */
  get max_body_bytes(): number {
    return Math.floor(this.max_bytes / 2);
  }

  /** The bytes that the requests of a key hold. */
  bytesOf(key_id: string): number {
    return this.bytes_by_key.get(key_id) ?? 0;
  }

  /** Counts bytes for a key. Throws WeirError (503) if they exceed the limit or the key's share. */
  add(key_id: string, bytes: number, isSmall: boolean): void {
    const held_bytes = this.bytesOf(key_id) + bytes;
    const free_bytes = this.max_bytes - this.counted_bytes - bytes;
    if (free_bytes < 0) throw isFullError();
    if (held_bytes > free_bytes * (isSmall ? SMALL_BODY_FACTOR : 1)) throw shareIsUsedError();
    this.addAlways(key_id, bytes);
  }

  /**
   * Counts bytes for a key, even above the limit. Above the limit, `add` refuses further bodies.
   */
  addAlways(key_id: string, bytes: number): void {
    this.counted_bytes += bytes;
    this.bytes_by_key.set(key_id, this.bytesOf(key_id) + bytes);
  }

  /** Gives back bytes of a key. */
  remove(key_id: string, bytes: number): void {
    const held_bytes = this.bytesOf(key_id) - bytes;
    this.counted_bytes -= bytes;
    if (held_bytes > 0) this.bytes_by_key.set(key_id, held_bytes);
    else this.bytes_by_key.delete(key_id);
  }
}

/**
 * The bytes that one request holds: its body, and the answers of upstreams that are read whole.
 * They are given back when the request ends.
 */
export class BytesInFlight {
  private key_id = '';
  private counted_bytes = 0;
  private answer_bytes = 0;
  /** True if the body of the request was read to its end, or is so small that Bun reads it. */
  hasWholeBody = false;
  /** Called with the whole, decoded body of the request. Set while a debug window is open. */
  onBody: ((body: Uint8Array) => void) | undefined;
  /** How many users need the bytes: the handler, and each stream that outlives the handler. */
  private users = 1;

  constructor(private readonly budget: BodyBudget) {}

  /** Sets the key whose share the request uses. Must be called before bytes are counted. */
  of(key_id: string): this {
    this.key_id = key_id;
    return this;
  }

  /** True after the last use has ended. Nothing is counted any more. */
  get hasEnded(): boolean {
    return this.users <= 0;
  }

  /** True if the response is a large answer that was read whole. */
  get isLarge(): boolean {
    return this.answer_bytes > LARGE_ANSWER_BYTES && this.users === 1;
  }

  /** The largest body that can be admitted at all, bytes. */
  get max_body_bytes(): number {
    return this.budget.max_body_bytes;
  }

  /** Returns a counter for the request's body. */
  countBody(): CountedBody {
    return new CountedBody(this, false);
  }

  /** Returns a counter for an upstream's answer. */
  countAnswer(): CountedBody {
    return new CountedBody(this, true);
  }

  /** Gives back all bytes above `bytes`. */
  keepOnly(bytes: number): void {
    if (bytes < this.counted_bytes) this.giveBack(this.counted_bytes - bytes);
  }

  /**
   * Keeps the bytes after the handler has returned, for a stream. Returns the function that ends
   * this use; further calls of it have no effect.
   */
  share(): () => void {
    this.users += 1;
    let isOver = false;
    return () => {
      if (!isOver) this.end();
      isOver = true;
    };
  }

  /** Ends the use of the handler, or of one stream. After the last use all bytes are given back. */
  end(): void {
    this.users -= 1;
    if (this.users === 0) this.keepOnly(0);
  }

  /** Counts bytes of a body, or gives them back if `bytes` is negative. Throws like `CountedBody`. */
  change(bytes: number, room: Room, isAnswer: boolean): void {
    if (bytes <= 0) this.giveBack(-bytes);
    else this.take(bytes, room);
    if (isAnswer) this.answer_bytes += bytes;
  }

  private take(bytes: number, room: Room): void {
    // A body can still arrive after its request has ended. Its bytes must not be counted then:
    // `end` has already run, so nothing would free them.
    if (this.hasEnded) throw new Error('the request has ended');
    if (room === 'always') this.budget.addAlways(this.key_id, bytes);
    else this.budget.add(this.key_id, bytes, room === 'small');
    this.counted_bytes += bytes;
  }

  private giveBack(bytes: number): void {
    const given_back = Math.min(bytes, this.counted_bytes);
    this.counted_bytes -= given_back;
    if (given_back > 0) this.budget.remove(this.key_id, given_back);
  }
}

/** The limit for a body: the key's share for small or for large bodies; `always` has no limit. */
type Room = 'small' | 'large' | 'always';

/** The bytes of one body while it arrives. */
export class CountedBody {
  private bytes = 0;

  constructor(
    private readonly request: BytesInFlight,
    private readonly isAnswer: boolean,
  ) {}

  /**
   * Counts further bytes of the body. Throws WeirError (503) if there is no room for them, and an
   * Error if the request has ended.
   */
  add(bytes: number): void {
    const room = this.bytes + bytes <= SMALL_BODY_BYTES ? 'small' : 'large';
    this.request.change(bytes, room, this.isAnswer);
    this.bytes += bytes;
  }

  /** Counts further bytes if there is room for them. Returns false if there is none. */
  tryAdd(bytes: number): boolean {
    try {
      this.add(bytes);
      return true;
    } catch (error) {
      if (error instanceof WeirError) return false;
      throw error;
    }
  }

  /** Counts further bytes, even if there is no room for them. Throws if the request has ended. */
  addAlways(bytes: number): void {
    this.request.change(bytes, 'always', this.isAnswer);
    this.bytes += bytes;
  }

  /** Gives the bytes back: the body is not needed any more. */
  drop(): void {
    this.request.change(-this.bytes, 'small', this.isAnswer);
    this.bytes = 0;
  }
}

function isFullError(): WeirError {
  return new WeirError('service_unavailable', 'Weir holds too many large bodies now.', {
    retry_after: RETRY_AFTER_S,
    hint: `Retry after ${RETRY_AFTER_S} s.`,
  });
}

function shareIsUsedError(): WeirError {
  const message = 'The requests of this API key have too many bytes in flight.';
  return new WeirError('service_unavailable', message, {
    retry_after: RETRY_AFTER_S,
    hint: 'Wait until other requests of this key have ended, or send smaller bodies.',
  });
}
