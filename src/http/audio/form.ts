import {
  AUDIO_ENDINGS,
  MAX_AUDIO_BYTES,
  MAX_AUDIO_PROMPT_CHARS,
  TRANSCRIPT_FORMATS,
  type TranscriptFormat,
} from '../../catalogue/contracts/direct.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { CallSignal } from '../../upstreams/contract.ts';
import type { BytesInFlight } from '../../upstreams/transport/body-budget.ts';
import { type Form, isForm, readForm } from '../form.ts';

/** The largest form: the largest file, and 1 MB for the other fields. */
const MAX_FORM_BYTES = MAX_AUDIO_BYTES + 1024 * 1024;

/** The validated fields of an audio form. */
export interface AudioForm {
  readonly file: File;
  readonly model: string | undefined;
  readonly format: TranscriptFormat;
  readonly prompt: string | undefined;
  readonly temperature: number | undefined;
  readonly language: string | undefined;
  /** All fields, as the client sent them. */
  readonly whole: Form;
}

/**
 * Reads the multipart form of an audio route. Throws WeirError that names the wrong field (400,
 * 413, 415). Throws like `readForm` too.
 */
export async function readAudioForm(
  request: Request,
  counted: BytesInFlight,
  signal: CallSignal,
): Promise<AudioForm> {
  if (!isForm(request)) {
    throw new WeirError('unsupported_media_type', 'The body must be multipart/form-data.', {
      param: 'Content-Type',
      hint: 'Send the file as a form field: curl -F file=@speech.mp3 …',
    });
  }
  const form = await readForm(request, { max_bytes: MAX_FORM_BYTES, tooLarge, counted, signal });
  const file = form.get('file');
  if (!(file instanceof Blob)) throw invalidField('file', 'is required.');
  if (file.size > MAX_AUDIO_BYTES) throw tooLarge();
  if (file.size === 0) throw invalidField('file', 'is empty.');
  const name = file instanceof File ? file.name : '';
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  if (!AUDIO_ENDINGS.some((allowed) => allowed === ending)) {
    throw invalidField('file', `must have a name that ends in ${AUDIO_ENDINGS.join(', ')}.`);
  }
  return {
    file: new File([file], name, { type: file.type }),
    model: readModel(form),
    format: readFormat(form),
    prompt: readText(form, 'prompt'),
    temperature: readTemperature(form),
    language: readText(form, 'language'),
    whole: form,
  };
}

function readText(form: Form, name: string): string | undefined {
  const value = form.get(name);
  if (value === null || value === '') return undefined;
  if (typeof value !== 'string') throw invalidField(name, 'must be text.');
  if (value.length > MAX_AUDIO_PROMPT_CHARS)
    throw invalidField(name, `must be at most ${MAX_AUDIO_PROMPT_CHARS} characters.`);
  return value;
}

/** Returns the requested model; undefined if the form has no field `model`. */
function readModel(form: Form): string | undefined {
  if (form.get('model') === '') throw invalidField('model', 'must not be empty.');
  return readText(form, 'model');
}

function readFormat(form: Form): TranscriptFormat {
  const value = readText(form, 'response_format') ?? 'json';
  const format = TRANSCRIPT_FORMATS.find((allowed) => allowed === value);
  if (format) return format;
  throw invalidField('response_format', `must be one of ${TRANSCRIPT_FORMATS.join(', ')}.`);
}

function readTemperature(form: Form): number | undefined {
  const text = readText(form, 'temperature');
  if (text === undefined) return undefined;
  const value = Number(text);
  if (value >= 0 && value <= 1) return value;
  throw invalidField('temperature', 'must be a number from 0 to 1.');
}

function invalidField(param: string, problem: string): WeirError {
  return new WeirError('invalid_request', `${param} ${problem}`, { param });
}

function tooLarge(): WeirError {
  return new WeirError('payload_too_large', 'The file is larger than 25 MB.', { param: 'file' });
}
