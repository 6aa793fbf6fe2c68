/** An answer of a chat provider that its documentation or a stranger's tests show, and its meaning. */
import type { DialectName } from '../../../../src/protocols/dialects.ts';
import type { ChatProtocol } from '../../../../src/protocols/names.ts';

/** Tokens as the vendor bills them. No token is in two counts. */
interface Billed {
  readonly input: number;
  readonly cached?: number;
  readonly written?: number;
  /** With the tokens of the reasoning. */
  readonly output: number;
  /** Web searches that the provider ran. */
  readonly searches?: number;
}

export interface Meaning {
  readonly text: string;
  /** Each call of a tool: its name and its arguments. */
  readonly calls?: readonly (readonly [name: string, input: object])[];
  readonly finish: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  readonly billed: Billed;
}

export interface ChatAnswer {
  readonly vendor: string;
  readonly protocol: ChatProtocol;
  readonly dialect?: DialectName;
  readonly source: string;
  readonly whole?: object;
  /** The events of the stream; the last one of `openai` is added. */
  readonly stream?: readonly object[];
  readonly means: Meaning;
  /** If the stream of the source has other counts. */
  readonly stream_billed?: Billed;
}

export const SENT_BY = 'vercel/ai: packages';
export const WEATHER: readonly [string, object] = ['weather', { location: 'San Francisco' }];
export const LOCATION = '{"location": "San Francisco"}';

/** A whole chat completion. */
export const completion = (
  message: object,
  finish_reason: string,
  usage: object,
  rest: object = {},
) => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1_770_000_000, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
  ...{ usage, ...rest },
});

/** A chunk of a chat completion. */
export const chunk = (delta: object, finish_reason: string | null = null, rest: object = {}) => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_770_000_000, model: 'm' },
  choices: [{ index: 0, delta, finish_reason }],
  ...rest,
});

/** A chunk without choices. */
export const last = (usage: object, rest: object = {}) => ({
  ...chunk({}),
  choices: [],
  ...{ usage, ...rest },
});
