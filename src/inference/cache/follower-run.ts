import { requestIdOf, withoutDashes } from '../../errors/request-id.ts';
import { EventFollower } from '../../upstreams/replay/follow-events.ts';
import { noteFailure } from '../records/call-ends.ts';
import { streamError } from '../stream-error.ts';
import type { ChatFlight, ChatFollower } from './chat-flight.ts';
import { type FlightEnd, hitOf } from './flight.ts';
import { readAnswer, renderWhole } from './read-answer.ts';
import { settleHit } from './settle-hit.ts';

/** The writer of the response body. */
interface StreamClient {
  write(text: string): unknown;
  flush(): unknown;
  end(): unknown;
}

/**
 * Sends the events of an identical stream to another client, as they arrive. The events that complete
 * the answer are held back until this call's own charge is committed (P4).
 */
export class FollowerRun {
  private readonly events: EventFollower;
  /** How much of the flight's text was sent. */
  private sent = 0;
  private hasLeft = false;
  private endBytes: (() => void) | undefined;

  constructor(
    private readonly flight: ChatFlight,
    private readonly follower: ChatFollower,
  ) {
    const { call } = follower;
    this.events = new EventFollower({
      protocol: call.protocol,
      from_digits: withoutDashes(flight.leader.request_id),
      to_digits: withoutDashes(call.request_id),
      body: call.body,
    });
  }

  /** Returns the body of the response. */
  body(): ReadableStream {
    const { recorder, record, bytes } = this.follower.call;
    this.endBytes = bytes?.share();
    if (record) {
      record.lasts = true;
      record.answer();
      record.copy?.tap();
    }
    if (recorder) return recorder.start(() => this.pump(recorder));
    return new ReadableStream<string>({
      type: 'direct',
      pull: (client) => this.pump(client),
      cancel: () => this.onClientLeft(),
    });
  }

  private async pump(client: StreamClient): Promise<void> {
    const { flight } = this;
    const { call } = this.follower;
    try {
      for (;;) {
        const text = flight.text.slice(this.sent);
        this.sent += text.length;
        if (text !== '') await this.write(client, this.events.rewrite(text));
        if (this.hasLeft) return;
        if (flight.text.length > this.sent) continue;
        if (flight.end) break;
        await flight.changed(call.signal);
      }
      await this.finish(client, flight.end);
    } catch (error) {
      await this.breakOff(client, error);
    } finally {
      this.end();
    }
  }

  private write(client: StreamClient, text: string): unknown {
    if (this.hasLeft) return undefined;
    this.follower.call.record?.copy?.add(text);
    const written = client.write(text);
    client.flush();
    return written;
  }

  /** Charges the call, unless it has paid the answer itself, and sends the events that complete it. */
  private async finish(client: StreamClient, end: FlightEnd): Promise<void> {
    const { call, reservation, isPayer } = this.follower;
    if (end.state === 'failed') throw end.error ?? new Error('the first call failed');
    const { kept } = end;
    if (!isPayer) {
      await settleHit(
        call,
        call.model.category,
        reservation,
        hitOf(this.flight, kept.cost_nano_usd),
      );
    }
    await this.store(end);
    const rest = this.events.rewrite(end.rest);
    if (call.recorder) await call.recorder.keep(rest);
    this.close(client, rest);
  }

  /** Stores a response under its own id. */
  private async store({ kept }: Extract<FlightEnd, { state: 'answered' }>): Promise<void> {
    const { call } = this.follower;
    if (!call.storeAnswer) return;
    const whole = readAnswer(call.protocol, kept, true);
    const { protocol, body } = call;
    const answer_id = this.events.rewrite(String(whole?.own_id));
    if (!whole) return;
    const text = this.events.rewrite(whole.text);
    await call.storeAnswer(
      JSON.parse(renderWhole({ protocol, body, answer_id }, { ...whole, text })),
    );
  }

  private async breakOff(client: StreamClient, error: unknown): Promise<void> {
    const { call, reservation } = this.follower;
    reservation.release();
    if (call.record) noteFailure(call.record, error, this.hasLeft);
    const text =
      this.flight.stream?.errorEvents(streamError(error), requestIdOf(call.request_id)) ?? '';
    await call.recorder?.keep(text).catch(() => undefined);
    this.close(client, text);
  }

  private close(client: StreamClient, text: string): void {
    const { recorder, record } = this.follower.call;
    if (!this.hasLeft) record?.copy?.add(text);
    if (recorder) recorder.end(text);
    else if (!this.hasLeft) {
      client.write(text);
      client.end();
    }
  }

  private onClientLeft(): void {
    this.hasLeft = true;
    const { call, reservation, isPayer } = this.follower;
    if (!isPayer) {
      reservation.release();
      if (call.record) noteFailure(call.record, undefined, true);
    }
    this.end();
  }

  private end(): void {
    this.endBytes?.();
    this.flight.leave(this.follower);
    if (!this.follower.isPayer) this.follower.call.record?.end();
  }
}
