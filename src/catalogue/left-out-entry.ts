/** One parameter that Weir takes and does not send (see `left-out.ts`). */

/** Why a parameter may be left out. */
export const LEFT_OUT_REASONS = {
  specification: 'the specification says that the parameter has no effect',
  own: 'Weir itself does what the parameter requests',
  default: 'the value is the default, so the result is the same without the parameter',
  hint: 'a hint that changes neither the price nor the result',
  optional: 'known programs send it, but the model cannot follow it; the price never depends on it',
} as const;

/**
 * The format of an upstream's requests. `openai` is chat completions and OpenAI's other routes.
 * `bedrock` is what Amazon Bedrock lacks of Anthropic's format.
 */
export type UpstreamForm = 'openai' | 'responses' | 'anthropic' | 'gemini' | 'bedrock';

export interface LeftOut {
  /** Paths of routes. */
  readonly routes: readonly string[];
  /** The client's name of the parameter. `[]` stands for each entry of a list. */
  readonly param: string;
  /**
   * The upstreams that do not get the parameter. If missing: all upstreams whose format is not the
   * client's own.
   */
  readonly upstreams?: readonly UpstreamForm[];
  /** The values that are taken; every other value is refused by name. If missing: all values. */
  readonly values?: readonly unknown[];
  readonly reason: keyof typeof LEFT_OUT_REASONS;
  /** What happens instead, in one sentence. */
  readonly why: string;
}

/** Why parameters about the caller are left out. */
export const ABOUT_CALLER =
  'It describes the caller. Only the provider that defines it can use it.';
