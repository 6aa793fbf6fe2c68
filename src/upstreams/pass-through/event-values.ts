import type { EventSourceMessage } from 'eventsource-parser';
import { RetryableUpstreamError, type StreamEvent, type UpstreamCall } from '../contract.ts';
import type { StreamProtocol } from '../stream/event-batches.ts';
import { readEvents } from '../stream/events.ts';
import { type Exchange, parseObject } from '../transport/exchange.ts';
import { classifyInlineError } from '../transport/failures.ts';

/** An event of an upstream: its parsed JSON. */
export type EventValue = Readonly<Record<string, unknown>>;

/**
 * Yields the events of an accepted call, up to the event of the type `last`. Throws an upstream error
 * if the stream breaks off before that event, or if it contains an error.
 */
export async function* readEventValues(
  call: UpstreamCall,
  exchange: Exchange,
  last: string,
): AsyncGenerator<EventValue, undefined> {
  for await (const batch of readEvents(exchange, new EventValues(call, last))) {
    for (const { value } of batch) if (value) yield value;
  }
}

class EventValues implements StreamProtocol {
  private isDone = false;

  constructor(
    private readonly call: UpstreamCall,
    private readonly last: string,
  ) {}

  take({ data }: EventSourceMessage): StreamEvent | undefined {
    if (data === '[DONE]') return undefined;
    const value = parseObject(data);
    if (value['error']) throw classifyInlineError(this.call, data);
    this.isDone = value['type'] === this.last;
    return { text: '', produced: '', final: this.isDone, value };
  }

  hasEnded(): boolean {
    return this.isDone;
  }

  atEnd(): StreamEvent[] {
    throw new RetryableUpstreamError('connection', 'the stream ended without its last event');
  }
}
