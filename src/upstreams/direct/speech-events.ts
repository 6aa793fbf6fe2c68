/** Speech that arrives as server-sent events (OpenAI docs: Create speech, `stream_format: sse`). */
import type { EventSourceMessage } from 'eventsource-parser';
import { countIn, readUsageObject, type UsageReport } from '../../protocols/token-usage.ts';
import { RetryableUpstreamError, type StreamEvent, type UpstreamCall } from '../contract.ts';
import type { StreamProtocol } from '../stream/event-batches.ts';
import { readEvents } from '../stream/events.ts';
import { type Exchange, parseObject } from '../transport/exchange.ts';
import { classifyInlineError } from '../transport/failures.ts';
import type { Speech, SpeechUsage } from './contract.ts';

/** Returns the speech of an accepted call. Its pieces throw an upstream error if it breaks off. */
export function readSpeechEvents(call: UpstreamCall, exchange: Exchange): Speech {
  const protocol = new SpeechEvents(call);
  return { pieces: piecesIn(exchange, protocol), usage: () => protocol.usage };
}

async function* piecesIn(
  exchange: Exchange,
  protocol: SpeechEvents,
): AsyncGenerator<Uint8Array, undefined> {
  for await (const batch of readEvents(exchange, protocol)) {
    for (const { value } of batch) {
      const audio = value?.['audio'];
      if (typeof audio === 'string' && audio !== '') yield Buffer.from(audio, 'base64');
    }
  }
}

class SpeechEvents implements StreamProtocol {
  /** Null until the event `speech.audio.done`. */
  usage: UsageReport<SpeechUsage> = null;
  private isDone = false;

  constructor(private readonly call: UpstreamCall) {}

  take({ data }: EventSourceMessage): StreamEvent | undefined {
    if (data === '[DONE]') return undefined;
    const value = parseObject(data);
    if (value['error']) throw classifyInlineError(this.call, data);
    if (value['type'] === 'speech.audio.done') {
      this.isDone = true;
      this.usage = usageIn(value['usage']);
      return undefined;
    }
    return { text: '', produced: '', final: false, value };
  }

  hasEnded(): boolean {
    return this.isDone;
  }

  atEnd(): StreamEvent[] {
    throw new RetryableUpstreamError('connection', 'the speech ended without its last event');
  }
}

function usageIn(usage: unknown): UsageReport<SpeechUsage> {
  const report = readUsageObject(usage);
  if (report === null || report === 'impossible') return report;
  return {
    input_tokens: countIn(report, 'input_tokens'),
    output_tokens: countIn(report, 'output_tokens'),
  };
}
