import type { AdmissionRequest, ListenableSignal } from '../../actors/money/admission-queue.ts';
import type { ChatModel } from '../../catalogue/catalogue.ts';
import { feeOf, feeToReserve, listPriceFor } from '../../catalogue/own-key-fee.ts';
import {
  affordableOutputTokens,
  chargeFor,
  chargeForSearches,
  maxChargeFor,
  priceAtLength,
  type TokenPrice,
} from '../../catalogue/price.ts';
import type { ClientProtocol } from '../../protocols/names.ts';
import type { AnswerUsage, TokenUsage } from '../../protocols/token-usage.ts';
import { maxWebSearches } from '../../upstreams/pass-through/web-search.ts';
import { CACHE_ON_REQUEST_FAMILY, highestPrice, mayContain } from './highest-price.ts';
import { type InputBound, inputBound } from './input-bound.ts';
import { mayReasonUnseen, type OutputBound, outputBound } from './output-bound.ts';
import { type CountedInput, countInput, countTokens, inputTokensOf } from './tokens.ts';

/** A stream starts with money for this many output tokens. Later the stream reserves more. */
export const FIRST_STREAM_TOKENS = 2_048;

/**
 * The window of Claude models for requests with the beta header `context-1m-…`, in tokens
 * (Anthropic docs: Context windows).
 */
const LONG_CONTEXT_WINDOW = 1_000_000;
/**
 * The most tokens that an image of unknown size is likely to have. A call near the cap may start if
 * the money covers this many tokens for each image.
 */
const LIKELY_MAX_IMAGE_TOKENS = 10_000;
/**
 * How many tokens a text has at most, in relation to the count of `countInputTokens`. The count is
 * exact for OpenAI's models. Claude 4.7 counts up to 1.46 times as much as Claude 4.6 for English
 * prose (published measurements with Anthropic's count_tokens), and Claude 4.6 about 1.2 times as
 * much as `o200k`. Google documents about 4 characters per token, as for `o200k`.
 */
const TOKENS_PER_COUNTED: Readonly<Record<string, number>> = {
  openai: 1,
  anthropic: 1.75,
  google: 1.25,
};
const UNKNOWN_TOKENS_PER_COUNTED = 1.75;

/** The part of a call that decides about its highest price. */
export interface BudgetedCall {
  readonly protocol: ClientProtocol;
  readonly model: ChatModel;
  readonly body: Readonly<Record<string, unknown>>;
  readonly body_text: string;
  /** Request headers that go to the upstream; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The upper bound of what one chat call may cost, and the amounts to reserve for it. The bound
 * covers the request as the upstream receives it, through a channel of any protocol (P17). Amounts
 * are in nano-USD. `fee_ppm` is set for a call on an own key of its organization, which costs this part
 * of the list price, in millionths.
 */
export class Budget {
  readonly price: TokenPrice;
  /** The most output tokens of the call, for all answers together. */
  readonly max_output_tokens: number;
  /** The output tokens that a stream reserves before it starts. */
  readonly first_output_tokens: number;
  private readonly output: OutputBound;
  private readonly input: InputBound;
  private readonly max_input_tokens: number;
  /** The price of as many web searches as the request allows. */
  private readonly searches_nano_usd: number;
  private counted_input: CountedInput | undefined;

  constructor(
    private readonly call: BudgetedCall,
    private readonly fee_ppm?: number,
  ) {
    const { protocol, model, body, body_text } = call;
    this.input = inputBound(body, body_text, model.id);
    this.output = outputBound(protocol, body, model.max_output_tokens);
    const { tokens_per_answer, answers, extra_tokens } = this.output;
    const { passes } = this.input;
    this.max_output_tokens =
      tokens_per_answer * answers + extra_tokens + (passes - 1) * model.max_output_tokens;
    this.first_output_tokens = mayReasonUnseen(model, body)
      ? this.max_output_tokens
      : Math.min(this.max_output_tokens, FIRST_STREAM_TOKENS);
    this.max_input_tokens = maxInputTokens(call, this.input) * passes;
    this.price = this.highestPrice();
    this.searches_nano_usd = chargeForSearches(maxWebSearches(body), model.price);
  }

  /**
   * Returns the price of the most expensive way in which the provider can bill the request, per
   * token. The result has no second price for long input (`long`): it already is the price for the
   * longest possible input.
   */
  private highestPrice(): TokenPrice {
    const { model, body_text } = this.call;
    const price = priceAtLength(this.max_input_tokens, model.price);
    return highestPrice(price, model, body_text);
  }

  /** The most tokens that the call may use, input and output. */
  get max_tokens(): number {
    return this.max_input_tokens + this.max_output_tokens;
  }

  /**
   * Input tokens, counted with a tokenizer. Counting is slow, so the tokens are counted once, and
   * only when they are needed.
   */
  get input_tokens(): number {
    return inputTokensOf(this.countedInput());
  }

  private countedInput(): CountedInput {
    this.counted_input ??= countInput(this.call.body);
    return this.counted_input;
  }

  /**
   * The input tokens that a call near the cap must be able to pay for. Input that only the provider
   * sees counts with its upper bound. Other input is counted, and multiplied by the most tokens that
   * the provider's vocabulary is known to need for the same text.
   */
  get covered_input_tokens(): number {
    const { image_tokens, is_referenced } = this.input;
    if (is_referenced) return this.max_input_tokens;
    const { owned_by } = this.call.model;
    const factor = TOKENS_PER_COUNTED[owned_by] ?? UNKNOWN_TOKENS_PER_COUNTED;
    const text_tokens = this.countedInput().tokens * factor;
    const likely_image_tokens = Number.isFinite(image_tokens)
      ? image_tokens
      : this.countedInput().images * LIKELY_MAX_IMAGE_TOKENS;
    return Math.min(this.max_input_tokens, Math.ceil(text_tokens) + likely_image_tokens);
  }

  /**
   * Returns the usage of an answer for which the upstream reported no usage, or only that of the
   * input. Every reported count of the input stays. The rest is counted with a tokenizer.
   */
  estimate(
    answer_text: string,
    reported: AnswerUsage | null = null,
    seen_searches = 0,
  ): TokenUsage {
    const { reasoning_tokens: _, ...input } = reported ?? this.inputUsage();
    const web_searches = Math.max(seen_searches, reported?.web_searches ?? 0);
    return {
      ...input,
      ...(web_searches > 0 ? { web_searches } : {}),
      output_tokens: countTokens(answer_text),
    };
  }

  /** Returns the usage of an input of which the upstream reported nothing. */
  private inputUsage(): Omit<AnswerUsage, 'output_tokens'> {
    return { input_tokens: this.input_tokens, cached_input_tokens: 0, cache_write_tokens: 0 };
  }

  /**
   * Returns the amount to reserve before the call. For a stream, the amount covers only the first
   * output tokens, because Weir can reserve more money while it receives them. If the model may
   * produce reasoning that the stream does not show, the amount covers the whole output.
   */
  amountToReserve(stream: boolean): number {
    const output = stream ? this.first_output_tokens : this.max_output_tokens;
    const list = maxChargeFor(this.max_input_tokens, output, this.price) + this.searches_nano_usd;
    return this.fee_ppm === undefined ? list : feeToReserve(list, this.fee_ppm);
  }

  /** Returns what a call of this list price costs. */
  private charged(list_nano_usd: number): number {
    return this.fee_ppm === undefined ? list_nano_usd : feeOf(list_nano_usd, this.fee_ppm);
  }

  /**
   * Returns the request with which a call waits for its money in the admission queue. The call may
   * start with less than `amount`, but needs money for its input and at least one output token of
   * each answer.
   */
  admissionRequest(amount: number, signal: ListenableSignal, call_id?: string): AdmissionRequest {
    const minimum = () => Math.min(amount, this.minimum());
    return { amount, minimum, signal, call_id };
  }

  private minimum(): number {
    const { covered_input_tokens, output, price, searches_nano_usd } = this;
    const list = maxChargeFor(covered_input_tokens, output.answers, price) + searches_nano_usd;
    return this.charged(list);
  }

  /** Returns what `tokens` more output tokens can cost. */
  maxChargeForOutput(tokens: number): number {
    return this.charged(maxChargeFor(0, tokens, this.price));
  }

  /** Returns how many output tokens the amount `held` pays for, in addition to the input. */
  maxOutputTokensFor(held: number): number {
    const list = this.fee_ppm === undefined ? held : listPriceFor(held, this.fee_ppm);
    return affordableOutputTokens(
      list - this.searches_nano_usd,
      this.covered_input_tokens,
      this.price,
    );
  }

  /**
   * Returns the limit of output tokens per choice to send to the upstream. `requested` is the
   * amount of money that the call asked for, and `held` is the amount that it got. Returns
   * undefined if the call got the whole amount.
   */
  outputLimitFor(held: number, requested: number): number | undefined {
    if (held >= requested) return undefined;
    const { tokens_per_answer, answers, extra_tokens } = this.output;
    const covered = Math.floor((this.maxOutputTokensFor(held) - extra_tokens) / answers);
    return Math.max(1, Math.min(covered, tokens_per_answer));
  }
}

/**
 * Returns the most input tokens of one pass, that is, of reading the input once. No provider
 * accepts more than the model's context window. A model without a declared window may have any
 * window, so its text counts in full.
 */
function maxInputTokens({ model, body_text, headers }: BudgetedCall, input: InputBound): number {
  if (input.max_tokens <= model.context_window) return input.max_tokens;
  const isDeclared = model.declaration.context_window !== undefined;
  if (!isDeclared && Number.isFinite(input.max_tokens)) return input.max_tokens;
  const hasLongContext =
    model.family === CACHE_ON_REQUEST_FAMILY &&
    (headers['anthropic-beta']?.includes('context-1m') || mayContain(body_text, 'context-1m'));
  const window = hasLongContext
    ? Math.max(model.context_window, LONG_CONTEXT_WINDOW)
    : model.context_window;
  return isDeclared
    ? Math.min(input.max_tokens, window)
    : Math.max(window, Buffer.byteLength(body_text));
}

/** Returns the charge of a call by the model's price in the catalogue, nano-USD. */
export function chatCharge(model: ChatModel, usage: TokenUsage): number {
  return chargeFor(usage, model.price);
}
