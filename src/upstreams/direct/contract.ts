/**
 * Calls that are one question and one whole answer, and nothing in between: embeddings, and sound
 * into text. One provider per file.
 */
import type { UpstreamCall } from '../contract.ts';

export interface Embeddings {
  /** The answer's JSON, made public. */
  readonly body_text: string;
  /** null = the upstream reported none. */
  readonly input_tokens: number | null;
}

/** A stretch of sound with what was said in it (contracts 1.6). */
export interface Segment {
  readonly id: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly [member: string]: unknown;
}

export interface Heard {
  readonly text: string;
  readonly language: string;
  /** Seconds. */
  readonly duration: number;
  readonly segments: readonly Segment[];
  readonly [member: string]: unknown;
}

export interface Listening {
  /** `translations`: into English. */
  readonly task: 'translations' | 'transcriptions';
  readonly file: File;
  readonly prompt?: string;
  readonly temperature?: number;
  /** Of a transcription only: what is spoken. */
  readonly language?: string;
}

/** Throws RetryableUpstreamError, TerminalUpstreamError, or the signal's reason. */
export interface DirectProtocol {
  embed(call: UpstreamCall): Promise<Embeddings>;
  listen(call: UpstreamCall, what: Listening): Promise<Heard>;
}
