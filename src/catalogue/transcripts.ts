/** The parts of a transcript that can have times (OpenAI docs: Create transcription). */
export const GRANULARITIES = ['word', 'segment'] as const;
export type Granularity = (typeof GRANULARITIES)[number];
/** The formats of a transcript (OpenAI docs: Create transcription). */
export const TRANSCRIPT_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const;
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];
