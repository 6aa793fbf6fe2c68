import { type Static, Type } from '@sinclair/typebox';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { TRANSLATORS } from '../../upstreams/direct/protocols.ts';
import { readJsonObject } from '../body.ts';
import { type Handler, json } from '../endpoint.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';
import { resolveDirectModel } from '../resolve-model.ts';

/** The vendor's bounds (DeepL docs: Translate). */
const MAX_TEXTS = 50;
const MAX_BODY_BYTES = 128 * 1024;
const FORMALITIES = ['default', 'more', 'less', 'prefer_more', 'prefer_less'];

/** A language as BCP 47 names it: `de`, `EN-US`, `zh-Hans`. */
const Language = Type.String({
  pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})?$',
  errorMessage: 'must be a language code, e.g. de or EN-US',
});

/**
 * `POST /v1/translations`, text into text. The specification shows no payload: the names are those of
 * DeepL's interface, which is what translation clients send; OpenAI-like names are understood as well.
 */
const TranslationSchema = Type.Object({
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
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
});

const ALIASES: Readonly<Record<string, string>> = {
  input: 'text',
  target_language: 'target_lang',
  source_language: 'source_lang',
};

const validate = validator(TranslationSchema);

export function translations(deps: InferenceRouteDeps): Handler {
  return async ({ request, uuid, request_id, server }) => {
    const key = await deps.keys.authenticate(request, false);
    await deps.rateLimit.consume(key);
    const { value } = await readJsonObject(request, MAX_BODY_BYTES);
    const body = validate(canonical(value));
    const texts = [body.text].flat();
    const inference = deps.inference();
    const model = resolveDirectModel(
      deps.catalogue(),
      body.model,
      key,
      'translation',
      (each, caller) => inference.isCallable(each, caller),
    );
    server?.timeout(request, 0);
    const characters = texts.reduce((sum, text) => sum + [...text].length, 0);
    const answer = await inference.direct({
      ...{ request_id: uuid, key, model, body: value, body_text: '', signal: request.signal },
      protocols: TRANSLATORS,
      most: { characters },
      ask: async (translator, call) => {
        const answer = await translator.translate(call, { texts, ...wishesOf(body) });
        const used = Math.min(answer.characters ?? characters, characters);
        return {
          answer: { ...answer, characters: used },
          usage: { characters: used },
          estimated: answer.characters === null,
        };
      },
    });
    return json({
      id: request_id,
      object: 'translation',
      model: model.id,
      translations: answer.translations,
      usage: { characters: answer.characters },
    });
  };
}

function wishesOf(body: Static<typeof TranslationSchema>) {
  const { target_lang, source_lang, formality, context } = body;
  return {
    target_lang,
    ...(source_lang === undefined ? {} : { source_lang }),
    ...(formality === undefined ? {} : { formality: String(formality) }),
    ...(context === undefined ? {} : { context }),
  };
}

/** The members under their own names. Throws WeirError where one is said twice. */
function canonical(body: Record<string, unknown>): Record<string, unknown> {
  const named: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    const own = Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? name) : name;
    if (own in named) {
      throw new WeirError('invalid_request', `${name} says again what ${own} says.`, {
        param: name,
      });
    }
    named[own] = value;
  }
  return named;
}
