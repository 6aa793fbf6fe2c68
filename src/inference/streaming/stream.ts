import type { ChannelPermit } from '../../actors/channels/channel.ts';
import type { Reservation } from '../../actors/money/reservation.ts';
import { ERRORS, publicCode } from '../../errors/registry.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { TokenUsage } from '../../protocols/token-usage.ts';
import {
  RetryableUpstreamError,
  type StreamEvent,
  type UpstreamProtocol,
  type UpstreamStream,
} from '../../upstreams/contract.ts';
import { GrownText } from '../../upstreams/stream/grown-text.ts';
import type { Budget } from '../budget/budget.ts';
import { FIRST_STREAM_TOKENS } from '../budget/budget.ts';
import { countTokens } from '../budget/tokens.ts';
import { type InferenceCall, settleCall } from '../call.ts';
import { publicError } from '../routing/route.ts';
import type { StopSignal } from './stop-signal.ts';

/** A stream that ran out of money waits this long for more before it is ended. */
const EXTENSION_WAIT_MS = 2_000;
/** More is asked for when this many tokens are left. */
const EXTENSION_MARGIN_TOKENS = 256;
/** A token has at least about this many characters in most texts: a cheap count while streaming. */
const CHARS_PER_TOKEN = 3;

/** Where the answer goes. */
type StreamClient = Pick<ReadableStreamDirectController, 'write' | 'flush' | 'end'>;

/** A stream that an upstream began to answer, with its first events already read. */
export interface OpenStream {
  readonly protocol: UpstreamProtocol;
  readonly stream: UpstreamStream;
  readonly iterator: AsyncIterator<StreamEvent[]>;
  readonly first: StreamEvent[];
  readonly permit: ChannelPermit;
  /** Stops the upstream. */
  readonly stop: StopSignal;
}

interface StreamDeps {
  call: InferenceCall;
  open: OpenStream;
  reservation: Reservation;
  budget: Budget;
  onError: (error: unknown) => void;
}

/**
 * Carries one stream to its client and its price to the ledger.
 *
 * Events go out as they come; what completes the answer is held back until the charge is committed
 * (P4). The bill is the same however the stream ends (P12): what was delivered is charged, nothing
 * delivered is free.
 */
export class StreamRun {
  private readonly produced = new GrownText();
  private producedChars = 0;
  /** Output tokens that the reservation covers. */
  private covered: number;
  private held = '';
  private ended = false;
  /** The money was gone before the answer was whole. */
  private cutShort = false;
  /** The client went away: the controller takes nothing any more. */
  private left = false;
  private pending: StreamEvent[] | undefined;

  constructor(private readonly deps: StreamDeps) {
    this.pending = deps.open.first;
    this.covered = Math.min(FIRST_STREAM_TOKENS, deps.budget.max_output_tokens);
  }

  /** The body of the answer. Reads from the upstream only as fast as the client reads. */
  body(): ReadableStream<string> {
    // Bun's direct stream: a stream with a queue costs a call 40 µs more (measured).
    return new ReadableStream<string>({
      type: 'direct',
      pull: (client) => this.carryAll(client),
      cancel: () => this.clientLeft(),
    });
  }

  private async carryAll(client: StreamClient): Promise<void> {
    try {
      while (!this.ended) {
        const events: StreamEvent[] | undefined =
          this.takeFirst() ?? (await this.deps.open.iterator.next()).value;
        if (events) {
          const room = this.carry(client, events);
          if (!this.isCovered() && !(await this.extend())) this.cutOff();
          if (room) await room;
        }
        if (!events || this.cutShort) await this.finish(client);
      }
    } catch (error) {
      await this.breakOff(client, error);
    }
  }

  private takeFirst(): StreamEvent[] | undefined {
    const { pending } = this;
    this.pending = undefined;
    return pending;
  }

  /**
   * Sends what of these events may go to the client now; the rest is held back. Gives a promise until
   * the client has room for more; mostly it has.
   */
  private carry(
    client: StreamClient,
    events: readonly StreamEvent[],
  ): Promise<unknown> | undefined {
    let written: unknown;
    for (const { text, produced, final } of events) {
      this.produced.add(produced);
      this.producedChars += produced.length;
      if (final || this.held !== '') this.held += text;
      else if (text !== '' && !this.left) written = client.write(text);
    }
    if (written !== undefined) client.flush();
    return written instanceof Promise ? written : undefined;
  }

  /** True if the reservation covers what was produced by now. */
  private isCovered(): boolean {
    if (this.held !== '' || this.covered >= this.deps.budget.max_output_tokens) return true;
    const roughly = Math.ceil(this.producedChars / CHARS_PER_TOKEN);
    return roughly + EXTENSION_MARGIN_TOKENS < this.covered;
  }

  /** Asks for more money; false = what was produced is all that can be paid. */
  private async extend(): Promise<boolean> {
    const { budget, reservation } = this.deps;
    const more = Math.min(this.covered, budget.max_output_tokens - this.covered);
    const extra = await reservation.extend({
      amount: budget.priceOfExtraTokens(more),
      minimum: () => Math.min(budget.priceOfExtraTokens(1), budget.priceOfExtraTokens(more)),
      wait_ms: EXTENSION_WAIT_MS,
      signal: this.deps.open.stop,
    });
    if (extra >= budget.priceOfExtraTokens(more)) {
      this.covered += more;
      return true;
    }
    // Near the end of the money a rough count would cut too early: count what was produced.
    const tokens = countTokens(this.produced.toString());
    this.covered = Math.min(budget.outputCoveredBy(reservation.amount), budget.max_output_tokens);
    this.producedChars = tokens * CHARS_PER_TOKEN;
    return tokens < this.covered;
  }

  /** The money is gone: the upstream stops, and the answer ends cleanly. */
  private cutOff(): void {
    this.deps.open.stop.abort();
    this.held = this.deps.open.stream.endEarly(this.usageSoFar());
    this.cutShort = true;
  }

  /** The answer is whole: charge it, then send what completes it. */
  private async finish(client: StreamClient): Promise<void> {
    const { permit } = this.deps.open;
    if (this.ended) return;
    this.ended = true;
    if (this.cutShort) permit.abandoned();
    else permit.succeeded();
    try {
      await this.settle(this.cutShort ? 'partial' : 'completed');
      const { call, open } = this.deps;
      const answer = call.storeAnswer && open.stream.answer?.();
      if (answer) await call.storeAnswer?.(answer);
      this.end(client, this.held);
    } catch (error) {
      // No answer is complete without its charge (P4).
      this.deps.onError(error);
      this.end(client, this.errorText(error));
    }
  }

  /** The upstream broke off in the middle: charge what was delivered, and say so in the stream. */
  private async breakOff(client: StreamClient, error: unknown): Promise<void> {
    if (this.ended) return;
    this.ended = true;
    this.deps.open.stop.abort();
    const { permit } = this.deps.open;
    if (error instanceof RetryableUpstreamError) permit.failed(error);
    else permit.abandoned();
    try {
      await this.settle('partial');
    } catch (unsettled) {
      this.deps.onError(unsettled);
    }
    this.deps.onError(error);
    this.end(client, this.errorText(error));
  }

  private end(client: StreamClient, text: string): void {
    if (this.left) return;
    client.write(text);
    client.end();
  }

  /** The event that tells the client, in its dialect, that the answer is not whole. */
  private errorText(error: unknown): string {
    const known = publicError(error);
    const { id, message } =
      known instanceof WeirError
        ? known
        : { id: 'upstream_error' as const, message: 'The answer broke off.' };
    const { type, nativeType } = ERRORS[id];
    const said = { type, native_type: nativeType, code: publicCode(id), message };
    return this.deps.open.protocol.errorEvent(said);
  }

  /** P8: the upstream is stopped; what was produced is charged, the rest released. */
  private async clientLeft(): Promise<void> {
    this.left = true;
    if (this.ended) return;
    this.ended = true;
    this.deps.open.stop.abort();
    this.deps.open.permit.abandoned();
    try {
      await this.settle('partial');
    } catch (error) {
      this.deps.onError(error);
    }
  }

  private settle(outcome: 'completed' | 'partial'): Promise<unknown> {
    const { call, reservation, open } = this.deps;
    const reported = outcome === 'completed' ? open.stream.usage() : null;
    if (!reported && this.produced.length === 0) {
      reservation.release();
      return Promise.resolve();
    }
    const usage = reported ?? this.usageSoFar();
    const estimated = reported === null;
    const channel_id = open.permit.channel.config.id;
    return settleCall(call, reservation, { usage, channel_id, estimated }, outcome);
  }

  private usageSoFar(): TokenUsage {
    const { open, budget } = this.deps;
    return budget.estimate(this.produced.toString(), open.stream.inputUsage());
  }
}
