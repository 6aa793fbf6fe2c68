import { editMembers } from '../../json/members.ts';
import { reportedPrice } from '../../protocols/reported-price.ts';
import { countIn, readUsageObject, type UsageReport } from '../../protocols/token-usage.ts';
import { RetryableUpstreamError, type UpstreamCall } from '../contract.ts';
import { publishAnswer } from '../pass-through/publish.ts';
import { requestAnswer, send } from '../pass-through/request.ts';
import { readChunks, readFailure } from '../transport/exchange.ts';
import { classifyInlineError } from '../transport/failures.ts';
import { AZURE, OPENAI, type OpenaiAddress } from '../transport/openai-address.ts';
import type { Embedder, OwnCount, SpeechSynthesizer, Transcriber } from './contract.ts';
import { transcribe } from './openai-transcripts.ts';
import { readSpeechEvents } from './speech-events.ts';
import { inEncodingFormat } from './vectors.ts';

/** Embeddings and audio of OpenAI and of compatible servers (OpenAI docs: Embeddings; Audio). */
function directProtocol(address: OpenaiAddress): Embedder & Transcriber & SpeechSynthesizer {
  return {
    embed(call, own) {
      const request = {
        path: address.path(call, '/embeddings'),
        headers: address.headers(call.target.api_key),
        edits: { model: JSON.stringify(call.physical_model), ...withoutNulls(call.body) },
      };
      return requestAnswer(call, request, (text, answer) => {
        const { data, usage } = answer;
        if (!Array.isArray(data)) {
          throw new RetryableUpstreamError('malformed', 'the answer has no embeddings');
        }
        const input_tokens = embeddedTokens(usage, own);
        const public_text = publishAnswer(text, answer, call);
        const counted = () => {
          const tokens = own.counted();
          return JSON.stringify({ prompt_tokens: tokens, total_tokens: tokens });
        };
        return {
          body_text: inEncodingFormat(
            input_tokens === 'impossible'
              ? editMembers(public_text, { usage: counted() })
              : public_text,
            data,
            call.body['encoding_format'],
          ),
          input_tokens,
          paid_nano_usd: reportedPrice(usage),
        };
      });
    },

    transcribe: (call, what) => transcribe(call, what, address),

    async synthesize(call) {
      const exchange = await send(call, {
        path: address.path(call, '/audio/speech'),
        headers: address.headers(call.target.api_key),
        edits: { model: JSON.stringify(call.physical_model) },
      });
      const kind = exchange.response.headers.get('content-type') ?? '';
      if (kind.startsWith('application/json')) {
        throw await readFailure(exchange, (text) => classifyInlineError(call, text));
      }
      if (call.body['stream_format'] === 'sse') return readSpeechEvents(call, exchange);
      return { pieces: readChunks(exchange), usage: () => null };
    },
  };
}

/** Direct calls of OpenAI and of compatible servers. */
export const openaiDirect = directProtocol(OPENAI);
/** Direct calls of Azure OpenAI, which has other paths and another header with the API key. */
export const azureDirect = directProtocol(AZURE);

/** Returns the edits that remove members without a value, which the provider refuses. */
function withoutNulls(body: UpstreamCall['body']): Record<string, null> {
  const names = Object.keys(body).filter((name) => body[name] === null);
  return Object.fromEntries(names.map((name) => [name, null]));
}

/** Returns the reported tokens of an input. */
function embeddedTokens(usage: unknown, { max_tokens }: OwnCount): UsageReport<number> {
  const reported = readUsageObject(usage);
  if (reported === null || reported === 'impossible') return reported;
  if (typeof reported['prompt_tokens'] !== 'number') return null;
  const tokens = countIn(reported, 'prompt_tokens');
  return tokens <= 2 * max_tokens ? tokens : 'impossible';
}
