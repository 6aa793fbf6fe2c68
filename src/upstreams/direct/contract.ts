/**
 * Interfaces for embeddings, transcription, speech, rerank and translation. The files named after a
 * provider implement some of them. Each function throws RetryableUpstreamError or
 * TerminalUpstreamError, or the signal's reason if the signal was aborted.
 */
import type { Granularity } from '../../catalogue/transcripts.ts';
import type { UsageReport } from '../../protocols/token-usage.ts';
import type { UpstreamCall } from '../contract.ts';

interface Embeddings {
  /** What the operator pays, nano-USD, if the upstream told it. */
  readonly paid_nano_usd?: number | undefined;
  /** The answer's JSON with public ids and model names. */
  readonly body_text: string;
  /**
   * The input tokens that the upstream reported. The value is `impossible` if it reported more than
   * twice `OwnCount.max_tokens`.
   */
  readonly input_tokens: UsageReport<number>;
}

/** A section of the audio and its text. */
export interface Segment {
  readonly id: number;
  /** Seconds from the start of the audio. */
  readonly start: number;
  /** Seconds from the start of the audio. */
  readonly end: number;
  readonly text: string;
  readonly [member: string]: unknown;
}

/** A word of the audio. */
export interface Word {
  readonly word: string;
  /** Seconds from the start of the audio. */
  readonly start: number;
  /** Seconds from the start of the audio. */
  readonly end: number;
}

export interface Transcript {
  readonly text: string;
  readonly language: string;
  /** Length of the audio, in seconds. */
  readonly duration: number;
  /** True if the upstream reported no possible length. Then Weir found the length in another way. */
  readonly has_impossible_usage?: boolean;
  readonly segments: readonly Segment[];
  /** Present if the request asked for the times of words. */
  readonly words?: readonly Word[];
  /** The tokens of a model that the provider bills by tokens. */
  readonly tokens?: TranscriptTokens;
  readonly [member: string]: unknown;
}

/** The names are those of OpenAI (openai 6: `Transcription.Tokens`). */
export interface TranscriptTokens {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly input_token_details?: { readonly audio_tokens: number; readonly text_tokens: number };
}

export interface TranscriptionRequest {
  /** `translations` means that the text is translated to English. */
  readonly task: 'translations' | 'transcriptions';
  readonly file: File;
  readonly prompt?: string;
  readonly temperature?: number;
  /** Language of the audio. It is set only for `transcriptions`. */
  readonly language?: string;
  /** Whether the model gives times. Undefined if the catalogue does not say so. */
  readonly gives_times?: boolean;
  /** True if the client's format has times: `verbose_json`, `srt` or `vtt`. */
  readonly needs_times?: boolean;
  /** How fine the times are. If missing or empty, the transcript has segments. */
  readonly granularities?: readonly Granularity[];
}

export interface Speech {
  /** The audio as it arrives. Reading it throws the same errors as `synthesize`. */
  readonly pieces: AsyncGenerator<Uint8Array>;
  /**
   * Returns the reported usage, once `pieces` has ended. If it is null, the charge depends on the
   * request only.
   */
  readonly usage: () => UsageReport<SpeechUsage>;
}

export interface SpeechUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
}

interface RerankRequest {
  readonly query: string;
  readonly documents: readonly string[];
  readonly top_n?: number;
  readonly max_tokens_per_doc?: number;
}

export interface RerankResult {
  /**
   * The results, with the most relevant document first. `index` is the document's position in the
   * request.
   */
  readonly results: readonly { readonly index: number; readonly relevance_score: number }[];
  /** The billed search units that the upstream reported. */
  readonly search_units: UsageReport<number>;
}

interface TranslationRequest {
  readonly texts: readonly string[];
  readonly target_lang: string;
  readonly source_lang?: string;
  readonly formality?: string;
  readonly context?: string;
}

interface Translations {
  readonly translations: readonly {
    readonly text: string;
    readonly detected_source_language: string;
  }[];
  /** The billed characters that the upstream reported. */
  readonly characters: UsageReport<number>;
}

/** What Weir itself knows about the number of input tokens, without the upstream's report. */
export interface OwnCount {
  /** Counts the tokens. It is slow, and needed only if the upstream reports no usage. */
  readonly counted: () => number;
  /**
   * Upper bound of the tokens. If the upstream reports more than twice this, the report is ignored.
   */
  readonly max_tokens: number;
}

export interface Embedder {
  embed(call: UpstreamCall, own: OwnCount): Promise<Embeddings>;
}
export interface Transcriber {
  transcribe(call: UpstreamCall, what: TranscriptionRequest): Promise<Transcript>;
}
export interface SpeechSynthesizer {
  synthesize(call: UpstreamCall): Promise<Speech>;
}
export interface Reranker {
  rerank(call: UpstreamCall, what: RerankRequest): Promise<RerankResult>;
}
export interface Translator {
  translate(call: UpstreamCall, what: TranslationRequest): Promise<Translations>;
}
