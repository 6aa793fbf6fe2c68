import type { Static } from '@sinclair/typebox';
import { TranslationSchema } from '../../catalogue/contracts/direct-schemas.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { estimateOf } from '../../inference/direct/direct.ts';
import { possible } from '../../protocols/token-usage.ts';
import { TRANSLATORS } from '../../upstreams/direct/protocols.ts';
import { directRoute } from '../direct-route.ts';
import { type Handler, json } from '../endpoint.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';

/** The provider's limit for a body (DeepL docs: Translate). */
const MAX_BODY_BYTES = 128 * 1024;
/** Other names that clients may use for a member, and the name that Weir uses. */
const ALIASES: Readonly<Record<string, string>> = {
  input: 'text',
  target_language: 'target_lang',
  source_language: 'source_lang',
};

const validate = validator(TranslationSchema);

/**
 * `POST /v1/translations` translates text into text. A call is charged by the characters of the
 * text.
 */
export function translations(deps: InferenceRouteDeps): Handler {
  return directRoute(deps, {
    path: '/v1/translations',
    operation: 'translation',
    max_body_bytes: MAX_BODY_BYTES,
    readBody: (value) => validate(resolveAliases(value)),
    async run({ request_id, body, inference, model, call: shared }) {
      const texts = [body.text].flat();
      const characters = texts.reduce((sum, text) => sum + [...text].length, 0);
      const answer = await inference.direct({
        ...shared,
        protocols: TRANSLATORS,
        max_units: { characters },
        request: async (translator, call) => {
          const options = { texts, ...translationOptions(body) };
          const { translations, characters: report } = await translator.translate(call, options);
          const used = Math.min(possible(report) ?? characters, characters);
          return {
            answer: { translations, characters: used },
            usage: { characters: used },
            ...estimateOf(report),
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
    },
  });
}

function translationOptions(body: Static<typeof TranslationSchema>) {
  const { target_lang, source_lang, formality, context } = body;
  return {
    target_lang,
    ...(source_lang === undefined ? {} : { source_lang }),
    ...(formality === undefined ? {} : { formality: String(formality) }),
    ...(context === undefined ? {} : { context }),
  };
}

/** Renames aliased members. Throws WeirError if a member is given under two names. */
function resolveAliases(body: Record<string, unknown>): Record<string, unknown> {
  const resolved: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    const canonical = Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? name) : name;
    if (canonical in resolved) {
      throw new WeirError(
        'invalid_request',
        `${canonical} is sent under two names. Send it once.`,
        {
          param: name,
        },
      );
    }
    resolved[canonical] = value;
  }
  return resolved;
}
