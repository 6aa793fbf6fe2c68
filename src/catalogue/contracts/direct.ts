/**
 * The contracts of models for direct calls: the parameters of the route, limited to what the model
 * takes. A contract is published with its model, and validates the model's requests.
 */
import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import { validator } from '../../errors/validate.ts';
import { DIRECT_OPERATIONS, type DirectFamily, type DirectOperation } from '../families.ts';
import { isLeftOut } from '../left-out.ts';
import type { ModelDeclaration } from '../schema.ts';
import { invalidParameter } from './check.ts';
import type { Body } from './contract.ts';
import {
  AudioSchema,
  EmbeddingsSchema,
  MAX_INPUTS,
  RerankSchema,
  SpeechSchema,
  TranslationSchema,
} from './direct-schemas.ts';

/** What the model catalogue publishes about one model for direct calls, and its check. */
export interface DirectContract {
  readonly schema: TObject;
  readonly operations: readonly string[];
  /** True if one call may have several inputs. */
  readonly batch: boolean;
  /** True if the client gets the answer while the provider produces it. */
  readonly streams: boolean;
  /** Rules that a schema cannot express, as text for people. */
  readonly rules: readonly string[];
  /**
   * Throws WeirError `invalid_request` for the first parameter that the route takes and the model
   * does not. Parameters that are left out (`left-out.ts`) are accepted.
   */
  readonly check: (body: Body) => void;
}

/** The operation of `POST /v1/audio/translations`. */
export const SPEECH_TRANSLATION = 'translate-to-english';

type Route = Pick<DirectContract, 'operations' | 'batch' | 'streams' | 'rules'> & {
  readonly schema: TObject;
  readonly path: string;
};

/** The route of each operation. Audio forms have their own reader instead of `check`. */
const ROUTES: Record<DirectOperation, Route> = {
  embedding: {
    ...{ schema: EmbeddingsSchema, path: '/v1/embeddings' },
    ...{ operations: ['embed'], batch: true, streams: false, rules: [] },
  },
  stt: {
    ...{ schema: AudioSchema, path: '/v1/audio/transcriptions', batch: false, streams: false },
    operations: ['transcribe', SPEECH_TRANSLATION],
    rules: ['timestamp_granularities[] requires response_format verbose_json.'],
  },
  tts: {
    ...{ schema: SpeechSchema, path: '/v1/audio/speech' },
    ...{ operations: ['text-to-speech'], batch: false, streams: true, rules: [] },
  },
  rerank: {
    ...{ schema: RerankSchema, path: '/v1/rerank' },
    ...{ operations: ['rerank'], batch: true, streams: false, rules: [] },
  },
  translation: {
    ...{ schema: TranslationSchema, path: '/v1/translations' },
    ...{ operations: ['translate'], batch: true, streams: false },
    rules: [
      'text can also be sent as input, target_lang as target_language, source_lang as source_language.',
    ],
  },
};

/** Gemini reads texts only, no token ids. */
const GeminiText = Type.String({
  minLength: 1,
  errorMessage: 'must be a text that is not empty; this model cannot read token ids',
});
const Texts = Type.Union(
  [GeminiText, Type.Array(GeminiText, { minItems: 1, maxItems: MAX_INPUTS })],
  { errorMessage: `must be a string or an array of 1 to ${MAX_INPUTS} strings` },
);
/** Gemini's speech has no coded formats. */
const RawSound = Type.Union([Type.Literal('wav'), Type.Literal('pcm')], {
  errorMessage: 'must be wav or pcm for this model',
});

/** The parameters that differ from those of the route. A missing one is null. */
const DIFFERENCES: Partial<Record<DirectFamily, Readonly<Record<string, TSchema | null>>>> = {
  'gemini-embedding': { input: Texts, user: null },
  'gemini-speech': { response_format: RawSound, speed: null, stream_format: null },
};

/** Returns the contract of a model of a direct family. */
export function directContract(
  family: DirectFamily,
  declaration: Pick<ModelDeclaration, 'id' | 'dimensions' | 'fixed_dimensions' | 'offers'>,
): DirectContract {
  const { schema: all, path, ...route } = ROUTES[DIRECT_OPERATIONS[family]];
  const properties: Record<string, TSchema> = { ...all.properties };
  for (const [name, schema] of Object.entries(DIFFERENCES[family] ?? {})) {
    if (schema === null) delete properties[name];
    else properties[name] = schema;
  }
  for (const name of declaration.offers?.without ?? []) delete properties[name];
  const { stream_formats } = declaration.offers ?? {};
  if (stream_formats) properties['stream_format'] = streamFormatIn(stream_formats);
  Object.assign(properties, transcriptProperties(declaration.offers));
  if (declaration.offers?.timestamp_granularities?.length === 0) {
    delete properties[GRANULARITIES_FIELD];
  }
  if (declaration.fixed_dimensions) delete properties['dimensions'];
  else if (properties['dimensions'] && declaration.dimensions) {
    properties['dimensions'] = dimensionsUpTo(declaration.dimensions);
  }
  // The route has checked everything else, so a long input is not checked twice.
  const narrowed = Object.entries(properties).filter(([name, own]) => all.properties[name] !== own);
  const validate = validator(Type.Object(Object.fromEntries(narrowed)));
  const form = family.startsWith('gemini-') ? 'gemini' : undefined;
  const operations =
    declaration.offers?.translates_speech === false
      ? route.operations.filter((each) => each !== SPEECH_TRANSLATION)
      : route.operations;
  return {
    ...{ ...route, operations },
    schema: Type.Object(properties, { additionalProperties: false }),
    check(body) {
      for (const [name, value] of Object.entries(body)) {
        if (Object.hasOwn(properties, name) || value === null) continue;
        if (isLeftOut(path, name, value, form)) continue;
        throw invalidParameter(
          name,
          `${declaration.id} does not take ${name}.`,
          'Leave it out, or use another model.',
        );
      }
      validate({ ...body });
    },
  };
}

const GRANULARITIES_FIELD = 'timestamp_granularities[]';

/** Returns the parameters of transcripts that a model narrows. */
function transcriptProperties(offers: ModelDeclaration['offers']): Record<string, TSchema> {
  const { transcript_formats: formats, timestamp_granularities: granularities } = offers ?? {};
  const oneOf = (values: readonly string[]) => Type.Union(values.map((each) => Type.Literal(each)));
  return {
    ...(formats && {
      response_format: Type.Optional(
        Type.Union(oneOf(formats).anyOf, {
          default: 'json',
          errorMessage: `must be ${formats.join(' or ')} for this model`,
        }),
      ),
    }),
    ...(granularities && {
      [GRANULARITIES_FIELD]: Type.Optional(
        Type.Array(oneOf(granularities), {
          ...{ minItems: 1, maxItems: Math.max(1, granularities.length) },
          'x-operations': ['transcribe'],
        }),
      ),
    }),
  };
}

/** The sound itself is streamed as it arrives, whatever the model offers. */
function streamFormatIn(formats: readonly string[]): TSchema {
  return Type.Optional(
    Type.Union(
      formats.map((each) => Type.Literal(each)),
      { errorMessage: `must be ${formats.join(' or ')} for this model` },
    ),
  );
}

function dimensionsUpTo(maximum: number): TSchema {
  return Type.Optional(Type.Union([Type.Integer({ minimum: 1, maximum }), Type.Null()]));
}
