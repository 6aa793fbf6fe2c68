/**
 * The neutral form of chat requests and answers. A reader converts a request from the client's
 * protocol into the neutral form. A writer converts the neutral form into the upstream's protocol.
 * Answers go the opposite way. So each protocol needs only one reader and one writer for requests,
 * and one of each for answers. No code translates directly between two protocols.
 */
import type { Effort } from '../../catalogue/abilities.ts';
import type { WeirError } from '../../errors/weir-error.ts';
import type { AnswerUsage } from '../../protocols/token-usage.ts';
import type { Feature } from './features.ts';

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/** An image, by URL or inline in Base64. */
export type ImagePart = {
  readonly type: 'image';
  /** How closely the model looks at the image. Only OpenAI's protocols have it. */
  readonly detail?: string;
} & (
  | { readonly url: string; readonly media_type?: string }
  | { readonly media_type: string; readonly data: string }
);

/** A document, by URL or inline in Base64. The media type of a URL may be unknown. */
export type FilePart = { readonly type: 'file'; readonly name?: string } & (
  | { readonly url: string; readonly media_type?: string }
  | { readonly media_type: string; readonly data: string }
);

/** Audio input, inline in Base64. */
interface AudioPart {
  readonly type: 'audio';
  /** The file format, e.g. `wav` or `mp3`. */
  readonly format: string;
  readonly data: string;
}

/** Reasoning of a model. In a later request, the provider accepts it only with its signature. */
interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
  readonly signature?: string;
  /** Encrypted reasoning. If `redacted` is set, `text` is empty. */
  readonly redacted?: string;
}

/** A tool call by the model. */
interface CallPart {
  readonly type: 'call';
  readonly id: string;
  readonly name: string;
  /** JSON text, exactly as the model produced it. */
  readonly arguments: string;
}

/** The result of a tool call, from the client. */
interface ResultPart {
  readonly type: 'result';
  readonly call_id: string;
  readonly parts: readonly (TextPart | ImagePart)[];
  readonly is_error: boolean;
}

/** The text with which a model refuses to answer. */
interface RefusalPart {
  readonly type: 'refusal';
  readonly text: string;
}

export type UserPart = TextPart | ImagePart | FilePart | AudioPart | ResultPart;
/** A part of an assistant turn or of an answer. */
export type AssistantPart = TextPart | ReasoningPart | CallPart | RefusalPart;
export type Turn =
  | { readonly role: 'user'; readonly parts: readonly UserPart[] }
  | { readonly role: 'assistant'; readonly parts: readonly AssistantPart[] }
  /** A system message between other turns. */
  | { readonly role: 'system'; readonly parts: readonly TextPart[] };

/** A function that the model may call. */
export interface Tool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly parameters: unknown;
  readonly strict?: boolean;
}

/**
 * Which tools the model may or must call. `auto`: the model decides. `any`: the model must call at
 * least one tool. `none`: the model must not call a tool. `tool`: the model must call the named
 * tool.
 */
export type ToolChoice =
  | { readonly type: 'auto' | 'any' | 'none' }
  | { readonly type: 'tool'; readonly name: string };

/** The format that the answer must have: any JSON, or JSON that matches a schema. */
export type Format =
  | { readonly type: 'json' }
  | {
      readonly type: 'schema';
      readonly name: string;
      /** What the format is for. Only OpenAI's protocols have it. */
      readonly description?: string;
      readonly schema: unknown;
      readonly strict?: boolean;
    };

/** How much a model reasons: an effort, a token budget, or none. */
export type Reasoning =
  | {
      readonly effort: Effort;
      /** True if a model that does not reason may answer without. */
      readonly is_hint?: boolean;
    }
  | { readonly budget_tokens: number; readonly is_hint?: undefined }
  | { readonly off: true };

/** How long answers are, from the shortest (openai 7.55.0: `verbosity`). */
export const VERBOSITIES = ['low', 'medium', 'high'] as const;
export type Verbosity = (typeof VERBOSITIES)[number];

/** A chat request in the neutral form. */
export interface NeutralRequest {
  readonly system: readonly string[];
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly tool_choice?: ToolChoice;
  /** False if an answer may have only one tool call. */
  readonly parallel_calls?: boolean;
  readonly max_output_tokens?: number;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly seed?: number;
  readonly presence_penalty?: number;
  readonly frequency_penalty?: number;
  readonly stop: readonly string[];
  readonly format?: Format;
  readonly reasoning?: Reasoning;
  readonly verbosity?: Verbosity;
  readonly stream: boolean;
  readonly user?: string;
}

/** A feature that a request uses, and the parameter that uses it. */
export interface FeatureUse {
  readonly feature: Feature;
  readonly param: string;
  /** The media type of an image, a document or audio. Undefined if a URL does not tell it. */
  readonly media_type?: string | undefined;
}

/** A request that was read, with the features that it uses. */
export interface ReadRequest {
  readonly request: NeutralRequest;
  readonly uses: readonly FeatureUse[];
}

/**
 * Why an answer ended. `end`: the model finished. `length`: the answer reached the token limit.
 * `calls`: the model called tools. `sequence`: the answer reached a stop sequence. `filter`: a
 * content filter stopped the answer.
 */
export type StopReason = 'end' | 'length' | 'calls' | 'sequence' | 'filter';

/** A whole answer in the neutral form. */
export interface NeutralAnswer {
  readonly parts: readonly AssistantPart[];
  readonly stop: StopReason;
  readonly stop_sequence?: string;
  /** Null if the upstream reported no usage. */
  readonly usage: AnswerUsage | null;
}

/**
 * The start of a part in a stream. The text of the part, or the arguments of the call, follow in
 * deltas. Only redacted reasoning is complete at its start.
 */
export type OpenedPart =
  | { readonly type: 'text' | 'reasoning' | 'refusal' }
  | { readonly type: 'redacted'; readonly data: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string };

/** An event of a streamed answer. Only one part is open at a time. */
export type NeutralEvent =
  | { readonly type: 'start' }
  | { readonly type: 'open'; readonly part: OpenedPart }
  | { readonly type: 'delta'; readonly text: string }
  | { readonly type: 'signature'; readonly signature: string }
  | { readonly type: 'close' }
  | { readonly type: 'usage'; readonly usage: AnswerUsage }
  | { readonly type: 'stop'; readonly stop: StopReason; readonly stop_sequence?: string }
  | { readonly type: 'end' };

/**
 * Values that the answer to a client contains: the answer's id, model and time, and the client's
 * request.
 */
export interface AnswerNames {
  readonly id: string;
  readonly model: string;
  /** Unix seconds. */
  readonly created: number;
  /** The client's request. Some protocols repeat members of the request in the answer. */
  readonly request: Readonly<Record<string, unknown>>;
}

/** Reads a stream of one protocol. */
export interface StreamReader {
  /** Returns the neutral events of one parsed event. `event` is null for the mark `[DONE]`. */
  read(event: Readonly<Record<string, unknown>> | null): NeutralEvent[];
}

/**
 * Writes a stream in one protocol. `write` returns complete server-sent events, or an empty text if
 * the protocol has nothing to send for the neutral event.
 */
export interface StreamWriter {
  write(event: NeutralEvent): string;
  /**
   * Called before the first event that the client gets only after the charge. It may never get
   * this event. Absent if the error events do not depend on it.
   */
  holdBack?(): void;
  /** Works like `UpstreamStream.errorEvents`. */
  errorEvents(error: WeirError, request_id: string): string;
  /** Returns the answer so far, as a whole answer in the client's protocol. */
  answer(): object;
}
