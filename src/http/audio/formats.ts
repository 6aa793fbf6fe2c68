import type { Granularity, TranscriptFormat } from '../../catalogue/transcripts.ts';
import type { Segment, Transcript } from '../../upstreams/direct/contract.ts';

/**
 * Renders a transcript in the requested format (spec: Audio translation response). `granularities`
 * selects the words and segments of `verbose_json`; without it, the answer has segments.
 */
export function formatTranscript(
  format: TranscriptFormat,
  transcript: Transcript,
  task: 'translate' | 'transcribe',
  granularities: readonly Granularity[] = [],
): Response {
  switch (format) {
    case 'json':
      return Response.json({ text: transcript.text, usage: usageOf(transcript) });
    case 'verbose_json': {
      const { language, duration, text, segments, words = [] } = transcript;
      const hasSegments = granularities.length === 0 || granularities.includes('segment');
      return Response.json({
        ...{ task, language, duration, text },
        ...(granularities.includes('word') ? { words } : {}),
        ...(hasSegments ? { segments } : {}),
        usage: durationOf(transcript),
      });
    }
    case 'text':
      return plainTextResponse(`${transcript.text}\n`);
    case 'srt':
      return plainTextResponse(
        segmentsOf(transcript)
          .map(
            ({ start, end, text }, index) =>
              `${index + 1}\n${timestamp(start, ',')} --> ${timestamp(end, ',')}\n${text.trim()}\n\n`,
          )
          .join(''),
      );
    case 'vtt':
      return plainTextResponse(
        `WEBVTT\n\n${segmentsOf(transcript)
          .map(
            ({ start, end, text }) =>
              `${timestamp(start, '.')} --> ${timestamp(end, '.')}\n${text.trim()}\n\n`,
          )
          .join('')}`,
      );
    default:
      return format satisfies never;
  }
}

/**
 * The usage of a transcript: its tokens, or its seconds, rounded up (openai 6: `Transcription.usage`).
 * Some clients cannot read an answer without it, e.g. async-openai.
 */
function usageOf(transcript: Transcript): object {
  const { tokens } = transcript;
  return tokens ? { type: 'tokens', ...tokens } : durationOf(transcript);
}

/** `verbose_json` has seconds only (openai 6: `TranscriptionVerbose.Usage`). */
function durationOf({ duration }: Transcript): object {
  return { type: 'duration', seconds: Math.ceil(duration) };
}

/**
 * Returns the segments of a transcript. If the upstream sends none, the whole transcript is one
 * segment.
 */
function segmentsOf({
  segments,
  text,
  duration,
}: Transcript): readonly Pick<Segment, 'start' | 'end' | 'text'>[] {
  return segments.length > 0 ? segments : [{ start: 0, end: duration, text }];
}

function plainTextResponse(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
}

const MS_PER_S = 1_000;

/** Returns `HH:MM:SS`, then `mark`, then milliseconds. */
function timestamp(seconds: number, mark: ',' | '.'): string {
  const ms = Math.round(seconds * MS_PER_S);
  const pad = (value: number, width = 2) => String(Math.floor(value)).padStart(width, '0');
  const [h, m, s] = [ms / 3_600_000, (ms / 60_000) % 60, (ms / MS_PER_S) % 60];
  return `${pad(h)}:${pad(m)}:${pad(s)}${mark}${pad(ms % MS_PER_S, 3)}`;
}
