/**
 * The parameters of the routes of direct calls. A route's schema has every parameter that some model
 * takes. `direct.ts` narrows it to one model.
 */
import { Type } from '@sinclair/typebox';
import { GRANULARITIES, TRANSCRIPT_FORMATS } from '../transcripts.ts';

/** The provider's limits for embeddings (OpenAI docs: Embeddings). */
export const MAX_INPUTS = 2_048;
const MAX_TOKENS_PER_INPUT = 8_192;

/** A request with an unknown member is refused. The error names the member. */
const STRICT = { additionalProperties: false };

const Model = Type.String({ minLength: 1, maxLength: 200 });

const Tokens = Type.Array(Type.Integer({ minimum: 0 }), {
  minItems: 1,
  maxItems: MAX_TOKENS_PER_INPUT,
});

/** `POST /v1/embeddings` (spec: Embeddings). */
export const EmbeddingsSchema = Type.Object(
  {
    model: Model,
    input: Type.Union(
      [
        Type.String({ minLength: 1 }),
        Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: MAX_INPUTS }),
        Tokens,
        Type.Array(Tokens, { minItems: 1, maxItems: MAX_INPUTS }),
      ],
      { errorMessage: `must be a string, an array of 1 to ${MAX_INPUTS} strings, or token ids` },
    ),
    encoding_format: Type.Optional(
      Type.Union([Type.Literal('float'), Type.Literal('base64'), Type.Null()], {
        errorMessage: 'must be float or base64',
      }),
    ),
    dimensions: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
    user: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  },
  STRICT,
);

/** The content type of each speech format (OpenAI docs: Create speech). */
export const SPEECH_TYPES = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
} as const;
const SPEECH_FORMATS = Object.keys(SPEECH_TYPES) as (keyof typeof SPEECH_TYPES)[];
const MAX_SPEECH_CHARS = 4_096;

/** `POST /v1/audio/speech` (OpenAI docs: Create speech). */
export const SpeechSchema = Type.Object(
  {
    model: Model,
    input: Type.String({ minLength: 1, maxLength: MAX_SPEECH_CHARS }),
    voice: Type.Union(
      [Type.String({ minLength: 1 }), Type.Object({ id: Type.String({ minLength: 1 }) })],
      { errorMessage: 'must be the name of a voice, or an object with its id' },
    ),
    instructions: Type.Optional(Type.String({ maxLength: MAX_SPEECH_CHARS })),
    response_format: Type.Optional(
      Type.Union(
        SPEECH_FORMATS.map((format) => Type.Literal(format)),
        { errorMessage: `must be one of ${SPEECH_FORMATS.join(', ')}` },
      ),
    ),
    speed: Type.Optional(Type.Number({ minimum: 0.25, maximum: 4 })),
    stream_format: Type.Optional(
      Type.Union([Type.Literal('audio'), Type.Literal('sse')], {
        errorMessage: 'must be audio or sse',
      }),
    ),
  },
  STRICT,
);

/** File name endings that the audio routes accept (spec: Audio translation). */
export const AUDIO_ENDINGS = [
  ...['flac', 'mp3', 'mp4', 'mpeg', 'mpga', 'm4a', 'ogg', 'wav', 'webm'],
] as const;
/** The largest audio file (spec: Limits, File size). */
export const MAX_AUDIO_BYTES = 25 * 1024 * 1024;
export const MAX_AUDIO_PROMPT_CHARS = 10_000;

/**
 * The form fields of `POST /v1/audio/translations` (spec) and `/transcriptions` (OpenAI docs:
 * Audio).
 */
export const AudioSchema = Type.Object(
  {
    file: Type.String({
      format: 'binary',
      description: `At most 25 MB: ${AUDIO_ENDINGS.join(', ')}.`,
    }),
    model: Type.Optional(Model),
    prompt: Type.Optional(Type.String({ maxLength: MAX_AUDIO_PROMPT_CHARS })),
    response_format: Type.Optional(
      Type.Union(
        TRANSCRIPT_FORMATS.map((format) => Type.Literal(format)),
        { default: 'json' },
      ),
    ),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    language: Type.Optional(
      Type.String({
        description: 'Language of the audio. Used for transcriptions, ignored for translations.',
        maxLength: MAX_AUDIO_PROMPT_CHARS,
      }),
    ),
    'timestamp_granularities[]': Type.Optional(
      Type.Array(Type.Union(GRANULARITIES.map((each) => Type.Literal(each))), {
        minItems: 1,
        maxItems: GRANULARITIES.length,
        description: 'Only for transcriptions with response_format verbose_json.',
        // A member that Weir adds to JSON Schema. It lists the only operations that take the
        // parameter.
        'x-operations': ['transcribe'],
      }),
    ),
  },
  STRICT,
);

/** The most documents that the provider accepts in one call (Cohere docs: Rerank). */
const MAX_DOCUMENTS = 1_000;
const Text = Type.String({ minLength: 1 });

/**
 * `POST /v1/rerank` (Cohere docs: Rerank). Jina's API has the same fields (Jina docs: Reranker).
 */
export const RerankSchema = Type.Object(
  {
    model: Model,
    query: Text,
    documents: Type.Array(Type.Union([Text, Type.Object({ text: Text })]), {
      minItems: 1,
      maxItems: MAX_DOCUMENTS,
      errorMessage: `must be 1 to ${MAX_DOCUMENTS} texts, or objects with a text`,
    }),
    top_n: Type.Optional(Type.Integer({ minimum: 1 })),
    return_documents: Type.Optional(Type.Boolean()),
    max_tokens_per_doc: Type.Optional(Type.Integer({ minimum: 1, maximum: 32_768 })),
  },
  STRICT,
);

/** The most texts of one call (DeepL docs: Translate). */
const MAX_TEXTS = 50;
const FORMALITIES = ['default', 'more', 'less', 'prefer_more', 'prefer_less'];

/** A language as BCP 47 names it, e.g. `de`, `EN-US` or `zh-Hans`. */
const Language = Type.String({
  pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})?$',
  errorMessage: 'must be a language code, e.g. de or EN-US',
});

/**
 * `POST /v1/translations` translates text into text. The specification does not name the
 * parameters. They have the names of DeepL's API here, because translation clients send these
 * names. The route also accepts OpenAI-like names, e.g. `input`.
 */
export const TranslationSchema = Type.Object(
  {
    model: Type.Optional(Model),
    text: Type.Union(
      [
        Type.String({ minLength: 1 }),
        Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: MAX_TEXTS }),
      ],
      { errorMessage: `must be a string or an array of 1 to ${MAX_TEXTS} strings` },
    ),
    target_lang: Language,
    source_lang: Type.Optional(Language),
    formality: Type.Optional(
      Type.Union(
        FORMALITIES.map((each) => Type.Literal(each)),
        { errorMessage: `must be one of ${FORMALITIES.join(', ')}` },
      ),
    ),
    context: Type.Optional(Type.String()),
  },
  STRICT,
);
