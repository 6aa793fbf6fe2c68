import {
  AUDIO_ENDINGS,
  AudioSchema,
  MAX_AUDIO_BYTES,
  MAX_AUDIO_PROMPT_CHARS,
} from '../../catalogue/contracts/direct-schemas.ts';
import { isLeftOut } from '../../catalogue/left-out.ts';
import {
  GRANULARITIES,
  type Granularity,
  TRANSCRIPT_FORMATS,
  type TranscriptFormat,
} from '../../catalogue/transcripts.ts';
import { closestName } from '../../errors/closest-name.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { CallSignal } from '../../upstreams/contract.ts';
import type { BytesInFlight } from '../../upstreams/transport/body-budget.ts';
import { type Form, isForm, readForm } from '../form.ts';

const MAX_QUOTED_CHARS = 100;
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
  /** The parts of a transcript that get times. If empty, the provider's default applies. */
  readonly granularities: readonly Granularity[];
  /** All fields, as the client sent them. */
  readonly whole: Form;
}

/** The form field with the granularities, as OpenAI's SDKs name it. */
export const GRANULARITIES_FIELD = 'timestamp_granularities[]';
/** Another name of that field, which some clients without an SDK send. */
const PLAIN_GRANULARITIES_FIELD = 'timestamp_granularities';
const TRANSCRIPTION_FIELDS = [...Object.keys(AudioSchema.properties), PLAIN_GRANULARITIES_FIELD];
const TRANSLATION_FIELDS = Object.keys(AudioSchema.properties).filter(
  (name) => name !== GRANULARITIES_FIELD,
);

/**
 * Reads the multipart form of an audio route. Throws a WeirError that names the wrong field (400,
 * 413, 415). Also throws the errors of `readForm`.
 */
export async function readAudioForm(
  request: Request,
  counted: BytesInFlight,
  signal: CallSignal,
  task: 'translations' | 'transcriptions',
): Promise<AudioForm> {
  if (!isForm(request)) {
    throw new WeirError('unsupported_media_type', 'The body must be multipart/form-data.', {
      param: 'Content-Type',
      hint: 'Send the file as a form field: curl -F file=@speech.mp3 …',
    });
  }
  const form = await readForm(request, { max_bytes: MAX_FORM_BYTES, tooLarge, counted, signal });
  refuseUnknownFields(form, task);
  const file = form.get('file');
  if (!(file instanceof Blob)) throw invalidField('file', 'is required.');
  if (file.size > MAX_AUDIO_BYTES) throw tooLarge();
  if (file.size === 0) throw invalidField('file', 'is empty.');
  const name = file instanceof File ? file.name : '';
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  if (!AUDIO_ENDINGS.some((allowed) => allowed === ending)) {
    throw invalidField('file', `must have a name that ends in ${AUDIO_ENDINGS.join(', ')}.`);
  }
  const format = readFormat(form);
  return {
    file: new File([file], name, { type: file.type }),
    model: readModel(form),
    format,
    prompt: readText(form, 'prompt'),
    temperature: readTemperature(form),
    language: readText(form, 'language'),
    granularities: readGranularities(form, format),
    whole: form,
  };
}

/** Throws WeirError (400) for the first field that the route does not take. */
function refuseUnknownFields(form: Form, task: 'translations' | 'transcriptions'): void {
  const known = task === 'transcriptions' ? TRANSCRIPTION_FIELDS : TRANSLATION_FIELDS;
  for (const name of form.keys()) {
    if (known.includes(name) || isLeftOut(`/v1/audio/${task}`, name, form.get(name))) continue;
    const param = name.slice(0, MAX_QUOTED_CHARS);
    if (name === 'stream') {
      throw new WeirError('invalid_request', 'stream: transcripts are not streamed.', {
        param,
        hint: 'Leave it out: the transcript arrives in one piece.',
      });
    }
    const meant = closestName(name, known);
    throw new WeirError('invalid_request', `${param} is not a field of this request.`, {
      param,
      hint: meant ? `Did you mean ${meant}?` : `The fields are ${known.join(', ')}.`,
    });
  }
}

/**
 * Returns the requested granularities. Throws WeirError if there are any and the format is not
 * `verbose_json`, because no other format takes them (OpenAI docs: Create transcription).
 */
function readGranularities(form: Form, format: TranscriptFormat): Granularity[] {
  for (const name of [GRANULARITIES_FIELD, PLAIN_GRANULARITIES_FIELD]) {
    const values = form.getAll(name);
    if (values.length === 0) continue;
    const known = GRANULARITIES.filter((each) => values.includes(each));
    if (values.some((value) => !GRANULARITIES.some((each) => each === value))) {
      throw invalidField(name, `must be ${GRANULARITIES.join(' or ')}.`);
    }
    if (format === 'verbose_json') return known;
    throw new WeirError('invalid_request', `${name} requires response_format verbose_json.`, {
      param: name,
      hint: 'Send response_format=verbose_json.',
    });
  }
  return [];
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
