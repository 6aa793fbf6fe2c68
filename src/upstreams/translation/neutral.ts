/**
 * The one form between the chat protocols: what a client asks in its own protocol is read into it, and
 * written from it for the upstream's; answers go the other way. N protocols need N readers and
 * writers, not N × N (design 5).
 */
import type { AnswerUsage } from '../../protocols/token-usage.ts';
import type { Feature } from './features.ts';

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/** By its address, or inline in Base64. */
export type ImagePart =
  | { readonly type: 'image'; readonly url: string }
  | { readonly type: 'image'; readonly media_type: string; readonly data: string };

/** A document, inline in Base64. */
interface FilePart {
  readonly type: 'file';
  readonly media_type: string;
  readonly data: string;
  readonly name?: string;
}

interface AudioPart {
  readonly type: 'audio';
  /** `wav`, `mp3` … */
  readonly format: string;
  readonly data: string;
}

/** What a model thought. Its signature lets the vendor that made it take it back. */
interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
  readonly signature?: string;
  /** Encrypted instead of readable. */
  readonly redacted?: string;
}

interface CallPart {
  readonly type: 'call';
  readonly id: string;
  readonly name: string;
  /** JSON text, exactly as it was produced. */
  readonly arguments: string;
}

interface ResultPart {
  readonly type: 'result';
  readonly call_id: string;
  readonly parts: readonly (TextPart | ImagePart)[];
  readonly is_error: boolean;
}

interface RefusalPart {
  readonly type: 'refusal';
  readonly text: string;
}

export type UserPart = TextPart | ImagePart | FilePart | AudioPart | ResultPart;
export type AssistantPart = TextPart | ReasoningPart | CallPart | RefusalPart;
export type Turn =
  | { readonly role: 'user'; readonly parts: readonly UserPart[] }
  | { readonly role: 'assistant'; readonly parts: readonly AssistantPart[] }
  /** Instructions between the turns. */
  | { readonly role: 'system'; readonly parts: readonly TextPart[] };

export interface Tool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema. */
  readonly parameters: unknown;
  readonly strict?: boolean;
}

export type ToolChoice =
  | { readonly type: 'auto' | 'any' | 'none' }
  | { readonly type: 'tool'; readonly name: string };

export type Format =
  | { readonly type: 'json' }
  | {
      readonly type: 'schema';
      readonly name: string;
      readonly schema: unknown;
      readonly strict?: boolean;
    };

/** How much thinking: in words, in tokens, or none. */
export type Reasoning =
  | { readonly effort: 'minimal' | 'low' | 'medium' | 'high' }
  | { readonly budget_tokens: number }
  | { readonly off: true };

export interface NeutralRequest {
  readonly system: readonly string[];
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly tool_choice?: ToolChoice;
  /** false = one call at a time. */
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
  readonly stream: boolean;
  readonly user?: string;
}

/** Something that a request needs its upstream to be able to, and the parameter that needs it. */
export interface FeatureUse {
  readonly feature: Feature;
  readonly param: string;
}

export interface ReadRequest {
  readonly request: NeutralRequest;
  readonly uses: readonly FeatureUse[];
}

/**
 * Why an answer ended: by itself, at its longest, to have tools called, at a stop sequence, or since a
 * filter stopped it.
 */
export type StopReason = 'end' | 'length' | 'calls' | 'sequence' | 'filter';

export interface NeutralAnswer {
  readonly parts: readonly AssistantPart[];
  readonly stop: StopReason;
  readonly stop_sequence?: string;
  /** null = the upstream reported none. */
  readonly usage: AnswerUsage | null;
}

/** What opens in a stream; its text comes in deltas. */
export type OpenedPart =
  | { readonly type: 'text' | 'reasoning' | 'refusal' }
  | { readonly type: 'redacted'; readonly data: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string };

/** An answer as it is produced. One part is open at a time. */
export type NeutralEvent =
  | { readonly type: 'start' }
  | { readonly type: 'open'; readonly part: OpenedPart }
  | { readonly type: 'delta'; readonly text: string }
  | { readonly type: 'signature'; readonly signature: string }
  | { readonly type: 'close' }
  | { readonly type: 'usage'; readonly usage: AnswerUsage }
  | { readonly type: 'stop'; readonly stop: StopReason; readonly stop_sequence?: string }
  | { readonly type: 'end' };

/** What an answer is called towards the client. */
export interface AnswerNames {
  readonly id: string;
  readonly model: string;
  /** Unix seconds. */
  readonly created: number;
  /** The client's request, where answers quote it. */
  readonly request: Readonly<Record<string, unknown>>;
}

/** Reads a stream of one protocol: an SSE event becomes neutral ones. */
export interface StreamReader {
  read(event: string | undefined, data: string): NeutralEvent[];
}

/** Writes a stream in one protocol; each text is whole SSE events. */
export interface StreamWriter {
  write(event: NeutralEvent): string;
  /** The answer so far, as the protocol's whole answer. */
  answer(): object;
}
