import type { AdmissionRequest, ListenableSignal } from '../../actors/money/admission-queue.ts';
import type { ChatModel } from '../../catalogue/catalogue.ts';
import {
  affordableOutputTokens,
  chargeFor,
  maxChargeFor,
  priceAtLength,
  type TokenPrice,
} from '../../catalogue/price.ts';
import { isObject } from '../../json/object.ts';
import type { TokenUsage } from '../../protocols/token-usage.ts';
import { countInputTokens, countTokens, maxInputTokens } from './tokens.ts';

/** A stream starts with money for this many output tokens. Later the stream reserves more. */
export const FIRST_STREAM_TOKENS = 2_048;

/**
 * The `family` of the models whose provider writes to its cache only if the request asks for it.
 */
const CACHE_ON_REQUEST_FAMILY = 'anthropic-messages';

/**
 * The upper bound of what one chat call may cost, and the amounts to reserve for it.
 * Amounts are in nano-USD.
 */
export class Budget {
  readonly price: TokenPrice;
  /** The most output tokens of the answer, for all choices together. */
  readonly max_output_tokens: number;
  private readonly choices: number;
  private readonly max_input_tokens: number;
  private counted_input_tokens: number | undefined;

  constructor(
    model: ChatModel,
    private readonly body: Readonly<Record<string, unknown>>,
    body_text: string,
  ) {
    this.choices = positiveInteger(body['n']) ?? 1;
    const requested = requestedOutputTokens(body);
    this.max_output_tokens =
      Math.min(requested ?? model.max_output_tokens, model.max_output_tokens) * this.choices;
    this.max_input_tokens = maxInputTokens(body);
    const price = priceAtLength(this.max_input_tokens, model.price);
    // Other providers write to their cache without a request for it. So the budget always includes
    // their price of cache writes.
    const isCacheOptional =
      model.family === CACHE_ON_REQUEST_FAMILY || price.cache_write_1h !== undefined;
    this.price = isCacheOptional ? withoutUnusedCache(price, model, body_text) : price;
  }

  /**
   * Input tokens, counted with a tokenizer. Counting is slow, so the tokens are counted once, and
   * only when they are needed.
   */
  get input_tokens(): number {
    this.counted_input_tokens ??= countInputTokens(this.body);
    return this.counted_input_tokens;
  }

  /**
   * Returns the usage of an answer for which the upstream reported no usage, or only a part. Tokens
   * are counted with a tokenizer.
   */
  estimate(answer_text: string, reported: TokenUsage | null = null): TokenUsage {
    return {
      input_tokens: reported?.input_tokens ?? this.input_tokens,
      cached_input_tokens: reported?.cached_input_tokens ?? 0,
      cache_write_tokens: reported?.cache_write_tokens ?? 0,
      output_tokens: countTokens(answer_text),
    };
  }

  /**
   * Returns the amount to reserve before the call. For a stream it covers only the first tokens.
   */
  amountToReserve(stream: boolean): number {
    const output = stream
      ? Math.min(this.max_output_tokens, FIRST_STREAM_TOKENS)
      : this.max_output_tokens;
    return maxChargeFor(this.max_input_tokens, output, this.price);
  }

  /**
   * Returns the request with which a call waits for its money in the admission queue. The call may
   * start with less than `amount`, but needs money for its input and at least one output token.
   */
  admissionRequest(amount: number, signal: ListenableSignal): AdmissionRequest {
    const minimum = () => Math.min(amount, maxChargeFor(this.input_tokens, 1, this.price));
    return { amount, minimum, signal };
  }

  /** Returns what `tokens` more output tokens can cost. */
  maxChargeForOutput(tokens: number): number {
    return maxChargeFor(0, tokens, this.price);
  }

  /** Returns how many output tokens the amount `held` pays for, in addition to the input. */
  maxOutputTokensFor(held: number): number {
    return affordableOutputTokens(held, this.input_tokens, this.price);
  }

  /**
   * Returns the limit of output tokens per choice to send to the upstream. `requested` is the
   * amount of money that the call asked for, and `held` is the amount that it got. Returns
   * undefined if the call got the whole amount.
   */
  outputLimitFor(held: number, requested: number): number | undefined {
    if (held >= requested) return undefined;
    const covered = Math.floor(this.maxOutputTokensFor(held) / this.choices);
    return Math.max(1, Math.min(covered, Math.floor(this.max_output_tokens / this.choices)));
  }
}

/**
 * Returns the price without cache writes that the request cannot cause: their price is 0. Anthropic
 * charges more for a cache write than for plain input, and writes to its cache only on request.
 */
function withoutUnusedCache(price: TokenPrice, model: ChatModel, body_text: string): TokenPrice {
  // An escaped character could hide the word. So a body with an escaped character counts as if it
  // had the word.
  const mayContain = (word: string) => body_text.includes(word) || body_text.includes('\\u');
  const mayWriteCache = model.family !== CACHE_ON_REQUEST_FAMILY || mayContain('"cache_control"');
  const mayWriteFor1h = mayWriteCache && mayContain('"1h"');
  return {
    ...price,
    ...(mayWriteCache ? {} : { cache_write: 0 }),
    ...(mayWriteFor1h ? {} : { cache_write_1h: 0 }),
  };
}

/** Returns the charge of a call by the model's price in the catalogue, nano-USD. */
export function charge(model: ChatModel, usage: TokenUsage): number {
  return chargeFor(usage, model.price);
}

/** Returns the output limit that the request names, in any of the client protocols. */
function requestedOutputTokens(body: Readonly<Record<string, unknown>>): number | undefined {
  const config = body['generationConfig'];
  return (
    positiveInteger(body['max_completion_tokens']) ??
    positiveInteger(body['max_tokens']) ??
    positiveInteger(body['max_output_tokens']) ??
    (isObject(config) ? positiveInteger(config['maxOutputTokens']) : undefined)
  );
}

function positiveInteger(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}
