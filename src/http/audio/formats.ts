import type { TranscriptFormat } from '../../catalogue/contracts/direct.ts';
import type { Segment, Transcript } from '../../upstreams/direct/contract.ts';

/** What was heard as the client wants it (spec: Audio translation response; contracts 1.6). */
export function formatTranscript(
  format: TranscriptFormat,
  heard: Transcript,
  task: 'translate' | 'transcribe',
): Response {
  switch (format) {
    case 'json':
      return Response.json({ text: heard.text });
    case 'verbose_json': {
      const { language, duration, text, segments } = heard;
      return Response.json({ task, language, duration, text, segments });
    }
    case 'text':
      return plain(`${heard.text}\n`);
    case 'srt':
      return plain(
        segmentsOf(heard)
          .map(
            ({ start, end, text }, at) =>
              `${at + 1}\n${time(start, ',')} --> ${time(end, ',')}\n${text.trim()}\n\n`,
          )
          .join(''),
      );
    case 'vtt':
      return plain(
        `WEBVTT\n\n${segmentsOf(heard)
          .map(
            ({ start, end, text }) =>
              `${time(start, '.')} --> ${time(end, '.')}\n${text.trim()}\n\n`,
          )
          .join('')}`,
      );
    default:
      return format satisfies never;
  }
}

/** An upstream that names none: all of it is one. */
function segmentsOf({
  segments,
  text,
  duration,
}: Transcript): readonly Pick<Segment, 'start' | 'end' | 'text'>[] {
  return segments.length > 0 ? segments : [{ start: 0, end: duration, text }];
}

function plain(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
}

const MS_PER_S = 1_000;

function time(seconds: number, mark: ',' | '.'): string {
  const ms = Math.round(seconds * MS_PER_S);
  const pad = (value: number, width = 2) => String(Math.floor(value)).padStart(width, '0');
  const [h, m, s] = [ms / 3_600_000, (ms / 60_000) % 60, (ms / MS_PER_S) % 60];
  return `${pad(h)}:${pad(m)}:${pad(s)}${mark}${pad(ms % MS_PER_S, 3)}`;
}
