import {
  AUDIO_ENDINGS,
  MAX_AUDIO_BYTES,
  MAX_AUDIO_PROMPT_CHARS,
  TRANSCRIPT_FORMATS,
  type TranscriptFormat,
} from '../../catalogue/contracts/direct.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { type Form, isForm, readForm } from '../form.ts';

/** The form around the file. */
const MAX_FORM_BYTES = MAX_AUDIO_BYTES + 1024 * 1024;

export interface AudioForm {
  readonly file: File;
  readonly model: string | undefined;
  readonly format: TranscriptFormat;
  readonly prompt: string | undefined;
  readonly temperature: number | undefined;
  readonly language: string | undefined;
}

/** Reads the multipart form of an audio route. Throws WeirError naming the field (400, 413, 415). */
export async function readAudioForm(request: Request): Promise<AudioForm> {
  if (!isForm(request)) {
    throw new WeirError('unsupported_media_type', 'The body must be multipart/form-data.', {
      param: 'Content-Type',
      hint: 'Send the file as a form field: curl -F file=@speech.mp3 …',
    });
  }
  const form = await readForm(request, MAX_FORM_BYTES, tooLarge);
  const file = form.get('file');
  if (!(file instanceof Blob)) throw wrong('file', 'is required.');
  if (file.size > MAX_AUDIO_BYTES) throw tooLarge();
  if (file.size === 0) throw wrong('file', 'is empty.');
  const name = file instanceof File ? file.name : '';
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  if (!AUDIO_ENDINGS.some((each) => each === ending)) {
    throw wrong('file', `must be one of ${AUDIO_ENDINGS.join(', ')}.`);
  }
  return {
    file: new File([file], name, { type: file.type }),
    model: textIn(form, 'model'),
    format: formatIn(form),
    prompt: textIn(form, 'prompt'),
    temperature: temperatureIn(form),
    language: textIn(form, 'language'),
  };
}

function textIn(form: Form, name: string): string | undefined {
  const value = form.get(name);
  if (value === null || value === '') return undefined;
  if (typeof value !== 'string') throw wrong(name, 'must be a text.');
  if (value.length > MAX_AUDIO_PROMPT_CHARS)
    throw wrong(name, `must be at most ${MAX_AUDIO_PROMPT_CHARS} characters.`);
  return value;
}

function formatIn(form: Form): TranscriptFormat {
  const said = textIn(form, 'response_format') ?? 'json';
  const format = TRANSCRIPT_FORMATS.find((each) => each === said);
  if (format) return format;
  throw wrong('response_format', `must be one of ${TRANSCRIPT_FORMATS.join(', ')}.`);
}

function temperatureIn(form: Form): number | undefined {
  const said = textIn(form, 'temperature');
  if (said === undefined) return undefined;
  const value = Number(said);
  if (value >= 0 && value <= 1) return value;
  throw wrong('temperature', 'must be a number from 0 to 1.');
}

function wrong(param: string, what: string): WeirError {
  return new WeirError('invalid_request', `${param} ${what}`, { param });
}

function tooLarge(): WeirError {
  return new WeirError('payload_too_large', 'The file is larger than 25 MB.', { param: 'file' });
}
