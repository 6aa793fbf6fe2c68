import type { AdmissionRequest } from '../../actors/money/admission-queue.ts';
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

/** A stream begins with money for this many output tokens and asks for more as it goes on. */
export const FIRST_STREAM_TOKENS = 2_048;

/** Models of the vendor whose cache is written to on demand. */
const NATIVE = 'anthropic-messages';

/** What one call may cost (design 4: the hold of a call). Amounts in nano-USD. */
export class Budget {
  readonly price: TokenPrice;
  /** Tokens that the answer may have at most, all choices together. */
  readonly max_output_tokens: number;
  private readonly choices: number;
  private readonly inputAtMost: number;
  private counted: number | undefined;

  constructor(
    model: ChatModel,
    private readonly body: Readonly<Record<string, unknown>>,
    body_text: string,
  ) {
    this.choices = positive(body['n']) ?? 1;
    const asked = askedOutput(body);
    this.max_output_tokens =
      Math.min(asked ?? model.max_output_tokens, model.max_output_tokens) * this.choices;
    this.inputAtMost = maxInputTokens(body);
    const price = priceAtLength(this.inputAtMost, model.price);
    // Elsewhere writing to a cache costs what it costs, asked for or not.
    const isOnDemand = model.family === NATIVE || price.cache_write_1h !== undefined;
    this.price = isOnDemand ? withoutUnasked(price, model, body_text) : price;
  }

  /** Counted with a tokenizer, once, and only where it matters. */
  get countInput(): number {
    this.counted ??= countInputTokens(this.body);
    return this.counted;
  }

  /** Usage counted with a tokenizer, where the upstream did not report it, or only a part. */
  estimate(produced: string, reported: TokenUsage | null = null): TokenUsage {
    return {
      input_tokens: reported?.input_tokens ?? this.countInput,
      cached_input_tokens: reported?.cached_input_tokens ?? 0,
      cache_write_tokens: reported?.cache_write_tokens ?? 0,
      output_tokens: countTokens(produced),
    };
  }

  /** What to set aside before the call. */
  chargeFor(stream: boolean): number {
    const output = stream
      ? Math.min(this.max_output_tokens, FIRST_STREAM_TOKENS)
      : this.max_output_tokens;
    return maxChargeFor(this.inputAtMost, output, this.price);
  }

  /** The same for a call that has to wait for it. */
  admissionRequest(amount: number, signal: AbortSignal): AdmissionRequest {
    const minimum = () => Math.min(amount, maxChargeFor(this.countInput, 1, this.price));
    return { amount, minimum, signal };
  }

  /** What an answer that is longer by `tokens` needs on top. */
  priceOfExtraTokens(tokens: number): number {
    return maxChargeFor(0, tokens, this.price);
  }

  /** Output tokens that `held` pays for. */
  outputCoveredBy(held: number): number {
    return affordableOutputTokens(held, this.countInput, this.price);
  }

  /** The bound per choice for the upstream, if `held` covers less than the client asked for. */
  clampFor(held: number, asked: number): number | undefined {
    if (held >= asked) return undefined;
    const covered = Math.floor(this.outputCoveredBy(held) / this.choices);
    return Math.max(1, Math.min(covered, Math.floor(this.max_output_tokens / this.choices)));
  }
}

/** Writing to this vendor's cache costs more than reading, and only happens when asked for. */
function withoutUnasked(price: TokenPrice, model: ChatModel, body_text: string): TokenPrice {
  const says = (word: string) => body_text.includes(word) || body_text.includes('\\u');
  const isAsked = model.family !== NATIVE || says('"cache_control"');
  const isLong = isAsked && says('"1h"');
  return {
    ...price,
    ...(isAsked ? {} : { cache_write: 0 }),
    ...(isLong ? {} : { cache_write_1h: 0 }),
  };
}

/** The price of a call as the catalogue has it. */
export function charge(model: ChatModel, usage: TokenUsage): number {
  return chargeFor(usage, model.price);
}

/** The longest answer that a client asks for, in whichever protocol. */
function askedOutput(body: Readonly<Record<string, unknown>>): number | undefined {
  const config = body['generationConfig'];
  return (
    positive(body['max_completion_tokens']) ??
    positive(body['max_tokens']) ??
    positive(body['max_output_tokens']) ??
    (isObject(config) ? positive(config['maxOutputTokens']) : undefined)
  );
}

function positive(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}
