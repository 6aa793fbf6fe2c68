/** Speech that arrives as server-sent events (OpenAI docs: Create speech, `stream_format: sse`). */
import { countIn, readUsageObject, type UsageReport } from '../../protocols/token-usage.ts';
import type { UpstreamCall } from '../contract.ts';
import { readEventValues } from '../pass-through/event-values.ts';
import type { Exchange } from '../transport/exchange.ts';
import type { Speech, SpeechUsage } from './contract.ts';

const LAST = 'speech.audio.done';

/** Returns the speech of an accepted call. Its pieces throw an upstream error if it breaks off. */
export function readSpeechEvents(call: UpstreamCall, exchange: Exchange): Speech {
  let usage: UsageReport<SpeechUsage> = null;
  async function* pieces(): AsyncGenerator<Uint8Array, undefined> {
    for await (const { type, audio, usage: reported } of readEventValues(call, exchange, LAST)) {
      if (type === LAST) usage = usageIn(reported);
      else if (typeof audio === 'string' && audio !== '') yield Buffer.from(audio, 'base64');
    }
  }
  return { pieces: pieces(), usage: () => usage };
}

function usageIn(usage: unknown): UsageReport<SpeechUsage> {
  const report = readUsageObject(usage);
  if (report === null || report === 'impossible') return report;
  return {
    input_tokens: countIn(report, 'input_tokens'),
    output_tokens: countIn(report, 'output_tokens'),
  };
}
