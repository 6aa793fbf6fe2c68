import { requestIdOf } from '../../errors/request-id.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { TokenUsage } from '../../protocols/token-usage.ts';
import { RetryableUpstreamError, type StreamEvent } from '../../upstreams/contract.ts';
import { MANY_UNJOINED_CHARS, TextBuilder } from '../../upstreams/stream/grown-text.ts';
import { untilAborted } from '../../upstreams/transport/deadlines.ts';
import { countTokens } from '../budget/tokens.ts';
import { hitOf, type LedStream } from '../cache/flight.ts';
import { noteFailure } from '../records/call-ends.ts';
import { withoutOwnWords } from '../routing/own-words.ts';
import { streamError } from '../stream-error.ts';
import { estimateTokens } from './estimated-tokens.ts';
import { keepStream } from './keep-stream.ts';
import { OutgoingEvents } from './outgoing-events.ts';
import { settleStream } from './settle-stream.ts';
import type { PaidUsage, StreamClient, StreamDeps } from './stream-parts.ts';

/** If the reservation of a stream is used up, the stream waits this long for more money, then ends. */
const EXTENSION_WAIT_MS = 2_000;
/** The reservation is extended when this many tokens are left. */
const EXTENSION_MARGIN_TOKENS = 256;
const NO_EVENTS: readonly StreamEvent[] = [];

/**
 * Sends one stream to its client and charges it.
 *
 * Events are sent as they arrive. The events that complete the answer are held back until the
 * charge is committed (P4). If the whole answer arrives at once, all its events are sent then: one
 * write costs half of two, and the answer is complete no later. One rule applies however the stream
 * ends (P12): delivered output is charged, and a stream without output is free.
 */
export class StreamRun implements LedStream {
  private readonly produced = new TextBuilder();
  /** An upper estimate of the output tokens so far. */
  private produced_tokens = 0;
  /** Output tokens that the reservation covers. */
  private covered_tokens: number;
  /** Events that complete the answer. */
  private held = '';
  /** Events that may be sent, but wait for `held`, because the whole answer arrived at once. */
  private unsent: OutgoingEvents | undefined;
  private hasSent = false;
  /**
   * The short form of what was sent, for the cache and for the calls that follow. Nobody needs it without a look-up.
   */
  sent: TextBuilder | undefined;
  /** True once the model ended the answer itself; false if the answer must not be sent again. */
  private isFit: boolean | undefined;
  private isEnded = false;
  /** True if the money ran out before the answer was complete. */
  private isCutShort = false;
  /** True if the client left. The stream's controller then accepts no more data. */
  private hasClientLeft = false;
  /** True if `onClientLeft` charges the call. The record may not end before. */
  private isLeaving = false;
  private pending: readonly StreamEvent[] | undefined;
  /** What earlier calls have paid of this answer. */
  private paid: TokenUsage | undefined;
  /** Ends this stream's use of the bytes that the request counts (`BytesInFlight.share`). */
  private endBytes: (() => void) | undefined;

  constructor(private deps: StreamDeps) {
    this.pending = deps.open.first;
    this.covered_tokens = deps.budget.first_output_tokens;
    if (deps.flight) deps.flight.stream = this;
  }

  /**
   * Returns the body of the response. The body reads from the upstream only as fast as the client
   * reads. With a recorder the stream starts at once, and continues if the client leaves.
   */
  body(): ReadableStream {
    this.endBytes = this.deps.call.bytes?.share();
    const { recorder, record } = this.deps.call;
    if (record) record.lasts = true;
    record?.copy?.tap();
    if (recorder) return recorder.start(() => this.pump(recorder));
    // Bun's direct stream has no queue. A stream with a queue costs 40 µs more per call (measured).
    return new ReadableStream<string>({
      type: 'direct',
      pull: (client) => this.pump(client),
      cancel: () => this.onClientLeft(),
    });
  }

  /** Runs the stream for the calls that follow. The client of this call left before it began. */
  runForFollowers(): void {
    void this.onClientLeft();
    if (!this.isEnded) void this.pump({ write() {}, flush() {}, end() {} });
  }

  private async pump(client: StreamClient): Promise<void> {
    try {
      while (!this.isEnded) {
        const events: readonly StreamEvent[] | undefined =
          this.takeFirstEvents() ?? (await this.readNext(client)).value;
        if (events) {
          const drained = this.send(client, events);
          if (!this.isCovered() && !(await this.extend())) await this.onLackOfMoney(client);
          const { flight, call } = this.deps;
          const isLate = flight?.isAbandoned === true && !this.hasClientLeft;
          if (isLate) await this.dismiss(client, call.signal.reason);
          // A client that reads slowly does not slow down the clients that follow.
          else if (drained && !flight?.hasFollowers) await untilAborted(drained, call.signal);
        }
        if (!events || this.isCutShort) await this.finish(client);
      }
    } catch (error) {
      await this.onUpstreamError(client, error);
    } finally {
      this.endBytes?.();
      // If the collector found this object while it sent, it stays until the next full collection, with its texts.
      this.unsent = undefined;
      this.held = '';
      if (!this.isLeaving) this.deps.call.record?.end();
    }
  }

  /** Reads the next events. If the upstream has not ended yet, `unsent` does not wait for them. */
  private readNext(client: StreamClient): Promise<IteratorResult<StreamEvent[]>> {
    const next = this.deps.open.iterator.next();
    if (this.unsent && Bun.peek.status(next) === 'pending') {
      this.write(client, this.unsent);
      this.unsent = undefined;
    }
    return next;
  }

  private takeFirstEvents(): readonly StreamEvent[] | undefined {
    const { pending } = this;
    if (!pending) return undefined;
    this.pending = undefined;
    this.deps.open.first = NO_EVENTS;
    return pending;
  }

  /** Sends the events that may go now, and holds back the rest. Returns a promise if the client must read first. */
  private send(client: StreamClient, events: readonly StreamEvent[]): Promise<unknown> | undefined {
    const ready = new OutgoingEvents();
    for (const event of events) {
      const { text: sent, produced, final, withUsage, is_fit } = event;
      this.produced.add(produced);
      this.produced_tokens += estimateTokens(produced);
      if (is_fit !== undefined) this.isFit = is_fit && this.isFit !== false;
      const text = withUsage ? withUsage(this.usageSoFar()) : sent;
      if (final || this.held !== '') this.held += text;
      else ready.add(text, event);
    }
    const { record } = this.deps.call;
    if (record) record.tokens_so_far = this.produced_tokens;
    if (ready.text === '') return undefined;
    if (this.held === '' || this.hasSent) return this.write(client, ready);
    this.unsent = ready;
    return undefined;
  }

  private write(client: StreamClient, events: OutgoingEvents): Promise<unknown> | undefined {
    const { text } = events;
    this.hasSent = true;
    if (this.deps.lookup) this.addSent(events.shortForm(text), text.length);
    this.deps.flight?.wake();
    if (this.hasClientLeft) return undefined;
    this.deps.call.record?.copy?.add(text);
    const written = client.write(text);
    client.flush();
    return written instanceof Promise ? written : undefined;
  }

  /** Notes the pieces of a text. They keep all its characters in memory. */
  private addSent(pieces: readonly string[], kept_chars: number): void {
    this.sent ??= new TextBuilder(MANY_UNJOINED_CHARS);
    let kept = kept_chars;
    for (const piece of pieces) {
      this.sent.add(piece, kept);
      kept = 0;
    }
  }

  /** True if the reservation covers the output so far. */
  private isCovered(): boolean {
    if (this.held !== '' || this.covered_tokens >= this.deps.budget.max_output_tokens) return true;
    return this.produced_tokens + EXTENSION_MARGIN_TOKENS < this.covered_tokens;
  }

  /** Extends the reservation. Returns false if there is only money for the output so far. */
  private async extend(): Promise<boolean> {
    const { budget, reservation } = this.deps;
    const more = Math.min(this.covered_tokens, budget.max_output_tokens - this.covered_tokens);
    const extra = await reservation.extend({
      amount: budget.maxChargeForOutput(more),
      minimum: () => Math.min(budget.maxChargeForOutput(1), budget.maxChargeForOutput(more)),
      wait_ms: EXTENSION_WAIT_MS,
      signal: this.deps.open.stop,
    });
    if (this.deps.call.record) this.deps.call.record.held_nano_usd = reservation.amount;
    if (extra >= budget.maxChargeForOutput(more)) {
      this.covered_tokens += more;
      return true;
    }
    // The tokens are counted here, not estimated. If little money is left, an estimate could end
    // the stream too early.
    const tokens = countTokens(this.produced.toString());
    this.covered_tokens = Math.min(
      budget.maxOutputTokensFor(reservation.amount),
      budget.max_output_tokens,
    );
    this.produced_tokens = tokens;
    return tokens < this.covered_tokens;
  }

  /**
   * Stops the upstream, and ends the answer as if it had reached its length limit. If other calls follow
   * this one, only this one ends, and the next one pays the rest.
   */
  private async onLackOfMoney(client: StreamClient): Promise<void> {
    const message = 'The money of this key does not cover the rest of the answer.';
    const refusal = new WeirError('quota_exceeded', message);
    if (this.deps.flight?.hasFollowers && (await this.dismiss(client, refusal))) return;
    this.deps.open.stop.abort();
    this.held = this.deps.open.stream.endEarly(this.usageSoFar());
    this.isCutShort = true;
  }

  /** Charges the answer, then sends the events that complete it. */
  private async finish(client: StreamClient): Promise<void> {
    const { permit } = this.deps.open;
    if (this.isEnded) return;
    this.isEnded = true;
    if (this.isCutShort) permit.abandoned();
    else permit.succeeded();
    try {
      const paid = await this.settle(this.isCutShort ? 'partial' : 'completed');
      const { call, open } = this.deps;
      const answer = call.storeAnswer && open.stream.answer?.();
      if (answer) await call.storeAnswer?.(answer);
      const { unsent } = this;
      const rest = (unsent?.text ?? '') + this.held;
      if (call.recorder) await call.recorder.keep(rest);
      this.end(client, rest);
      if (paid && !this.isCutShort) {
        const { sent, isFit: is_fit = false, paid: paid_before } = this;
        const last = unsent?.shortForm(rest) ?? [rest];
        keepStream(this.deps, { sent, last, paid, paid_before, is_fit });
      } else this.deps.flight?.finish({ state: 'failed' });
    } catch (error) {
      // Without a committed charge, Weir must not send the events that complete the answer (P4).
      await this.endWithError(client, error);
    }
  }

  /**
   * Handles a failure in the middle of a stream, or the client's deadline: charges the delivered
   * output and sends an error event.
   */
  private async onUpstreamError(client: StreamClient, error: unknown): Promise<void> {
    if (this.isEnded) return;
    this.isEnded = true;
    this.deps.open.stop.abort();
    const { permit } = this.deps.open;
    if (error instanceof RetryableUpstreamError) permit.failed(error);
    else permit.abandoned();
    this.noteFailure(streamError(error));
    try {
      await this.settle('partial');
    } catch (settleError) {
      this.deps.onError(settleError);
    }
    await this.endWithError(client, error);
  }

  private async endWithError(client: StreamClient, error: unknown): Promise<void> {
    const text = (this.unsent?.text ?? '') + this.errorText(error);
    this.deps.flight?.finish({ state: 'failed', error: streamError(error) });
    this.deps.onError(withoutOwnWords(error, this.deps.open.permit.channel.config.id));
    await this.deps.call.recorder?.keep(text).catch(this.deps.onError);
    this.end(client, text);
  }

  private end(client: StreamClient, text: string): void {
    const { recorder, record } = this.deps.call;
    if (!this.hasClientLeft) record?.copy?.add(text);
    if (recorder) {
      recorder.end(text);
    } else if (!this.hasClientLeft) {
      client.write(text);
      client.end();
    }
  }

  /**
   * Returns the error events in the client's protocol. They tell the client that the answer is
   * incomplete.
   */
  private errorText(error: unknown): string {
    return this.errorEvents(streamError(error), requestIdOf(this.deps.call.request_id));
  }

  errorEvents(error: WeirError, request_id: string): string {
    return this.deps.open.stream.errorEvents(error, request_id);
  }

  /** Stops the upstream, charges the output so far and releases the rest of the reservation (P8). */
  private async onClientLeft(): Promise<void> {
    const hadLeft = this.hasClientLeft;
    this.hasClientLeft = true;
    this.endBytes?.();
    if (this.isEnded || hadLeft) return;
    await (this.passOn(undefined) ?? this.stopWork());
  }

  /** Stops the upstream, and charges what was produced. */
  private async stopWork(): Promise<void> {
    this.isEnded = true;
    this.isLeaving = true;
    this.deps.open.stop.abort();
    this.deps.open.permit.abandoned();
    this.noteFailure(undefined);
    try {
      await this.settle('partial');
    } catch (error) {
      this.deps.onError(error);
    } finally {
      this.deps.call.record?.end();
      this.deps.flight?.finish({ state: 'failed' });
    }
  }

  /**
   * Ends this call with an error while the answer goes on for the calls that follow. Returns false if
   * none can pay the rest.
   */
  private async dismiss(client: StreamClient, error: unknown): Promise<boolean> {
    const text = this.errorText(error);
    const { call, onError } = this.deps;
    const passed = this.passOn(streamError(error));
    if (!passed) return false;
    this.hasClientLeft = true;
    await passed;
    await call.recorder?.keep(text).catch(onError);
    if (call.recorder) call.recorder.end(text);
    else {
      client.write(text);
      client.end();
    }
    return true;
  }

  /** The follower that pays has left. The next one pays the rest, or the work stops. */
  onPayerLeft(): void {
    if (!this.isEnded) void (this.passOn(undefined) ?? this.stopWork());
  }

  /**
   * Charges what was produced so far to the call that pays, and lets the next follower pay the rest.
   * Returns undefined if there is none. `error` is why the call ends; undefined if its client left.
   */
  private passOn(error: WeirError | undefined): Promise<void> | undefined {
    const { flight, call, onError } = this.deps;
    const next = flight?.promote();
    if (!next) return undefined;
    const settled = this.settle('partial');
    this.paid = this.usageSoFar();
    const { reservation, budget } = next;
    // The look-up of the first call stores the answer.
    if (flight) next.call.record?.payRestOf(hitOf(flight, 0).entry_id);
    // The follower itself keeps and stores its answer, under its own ids.
    const payer = { ...next.call, recorder: undefined, storeAnswer: undefined };
    this.deps = { ...this.deps, call: payer, reservation, budget };
    this.covered_tokens = this.produced_tokens + budget.first_output_tokens;
    if (call.record) noteFailure(call.record, error, error === undefined);
    return settled.then(() => undefined, onError).then(() => call.record?.end());
  }

  private noteFailure(error: unknown): void {
    const { record } = this.deps.call;
    if (record) noteFailure(record, error, this.hasClientLeft);
  }

  private settle(outcome: 'completed' | 'partial'): Promise<PaidUsage | undefined> {
    return settleStream(this.deps, {
      outcome,
      hasOutput: this.produced.length > 0,
      paid: this.paid,
      count: () => this.usageSoFar(),
    });
  }

  private usageSoFar(): TokenUsage {
    const { open, budget } = this.deps;
    const text = this.produced.toString();
    return budget.estimate(text, open.stream.inputUsage(), open.stream.webSearches?.());
  }
}
