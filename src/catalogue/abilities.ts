import { type Static, type TObject, type TPartial, Type } from '@sinclair/typebox';
import {
  CHAT_PROTOCOLS,
  type ChannelProtocol,
  type ChatProtocol,
  isChatProtocol,
} from '../protocols/names.ts';

/** Words of efforts, from the least to the most (openai `ReasoningEffort`, without `none`). */
export const EFFORTS = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];

/** Whose signatures of reasoning a model takes. */
const SIGNATURE_MAKERS = ['none', 'anthropic', 'gemini', 'openai'] as const;

/** When a model takes a parameter: beside reasoning too, only without it, or not at all. */
const WhenSchema = Type.Union([
  Type.Literal('always'),
  Type.Literal('without_reasoning'),
  Type.Literal('never'),
]);

const kinds = () => Type.Array(Type.String({ pattern: '^[a-z0-9]{1,20}$' }), { maxItems: 20 });

/**
 * The kinds of a medium that a model takes: the subtype of its media type, e.g. `png`, or a group:
 * `text` (any text, also JSON and XML) and `office` (documents, sheets and slides).
 */
const MediaSchema = Type.Object(
  {
    inline: kinds(),
    /** Kinds that the provider fetches itself. An empty list: it fetches none. */
    by_url: kinds(),
  },
  { additionalProperties: false },
);

/** Abilities that an upstream protocol may lack although the model has them. */
const PERHAPS_LACKING = {
  strict_tools: Type.Boolean({ description: 'True if the model keeps `strict` of its tools.' }),
  json_schema: Type.Union(
    (['always', 'without_tools', 'unreliable', 'never'] as const).map((each) => Type.Literal(each)),
    {
      description:
        'When a request can have JSON mode or a JSON schema for the answer: always, only without ' +
        'tools, not reliably, or never. A translated request then has an instruction instead.',
    },
  ),
  /** False if the model refuses tools while it reasons. */
  reasoning_with_tools: Type.Optional(Type.Boolean()),
  images: MediaSchema,
  documents: MediaSchema,
};

/**
 * What a chat model takes of the parameters that models of one protocol differ in. Translated
 * requests obey it. Requests in the protocol of the upstream pass through.
 */
export const AbilitiesSchema = Type.Object(
  {
    reasoning: Type.Object(
      {
        form: Type.Union(
          (['none', 'effort', 'adaptive', 'level', 'budget'] as const).map((each) =>
            Type.Literal(each),
          ),
          {
            description:
              'How a request asks for reasoning. none: the model does not reason. effort: ' +
              "OpenAI's reasoning_effort. adaptive: Anthropic's adaptive thinking with " +
              "output_config.effort. level: Gemini's thinkingLevel. budget: a number of tokens.",
          },
        ),
        efforts: Type.Optional(
          Type.Array(Type.Union(EFFORTS.map((each) => Type.Literal(each))), {
            minItems: 1,
            description: 'The efforts that the model takes, from the least to the most.',
          }),
        ),
        min_budget_tokens: Type.Optional(Type.Integer({ minimum: 0 })),
        max_budget_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
        can_be_off: Type.Boolean({ description: 'True if a request can switch reasoning off.' }),
      },
      { additionalProperties: false },
    ),
    /** When the model takes another `temperature`, `top_p` or `top_k` than its default. */
    sampling: WhenSchema,
    /** When a request can force a call of a tool. */
    forced_tools: WhenSchema,
    /** True if the last turn of a request can be the model's own. */
    prefill: Type.Boolean(),
    ...PERHAPS_LACKING,
    /** The formats of inline audio that the model takes; empty if it takes none. */
    audio_input: kinds(),
    audio_output: Type.Boolean(),
    signatures: Type.Object(
      {
        maker: Type.Union(
          SIGNATURE_MAKERS.map((each) => Type.Literal(each)),
          { description: 'Whose signatures of reasoning the model takes in later requests.' },
        ),
        needed: Type.Boolean({
          description:
            'True if the model refuses tool calls of its own turns without a signature. Gemini: ' +
            'always. Claude: while it thinks with a budget.',
        }),
      },
      { additionalProperties: false },
    ),
    on: Type.Optional(
      Type.Partial(
        Type.Object(
          Object.fromEntries(
            CHAT_PROTOCOLS.map((name) => [
              name,
              Type.Partial(Type.Object(PERHAPS_LACKING, { additionalProperties: false })),
            ]),
          ) as Record<ChatProtocol, TPartial<TObject<typeof PERHAPS_LACKING>>>,
          { additionalProperties: false },
        ),
        { description: 'What differs on channels of a protocol.' },
      ),
    ),
    provenance: Type.Object(
      {
        source: Type.String({ description: 'Never shown to clients: who says so.' }),
        date: Type.String({ description: 'Never shown to clients: when it was read.' }),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);

export type Abilities = Static<typeof AbilitiesSchema>;

/** The abilities on channels of a protocol by what differs there, because each call needs them. */
const merged = new WeakMap<object, Abilities>();

/** Returns what a model can do on channels of a protocol. */
export function abilitiesOn(
  abilities: Abilities | undefined,
  protocol: ChannelProtocol | undefined,
): Abilities | undefined {
  const differences = protocol && isChatProtocol(protocol) ? abilities?.on?.[protocol] : undefined;
  if (!abilities || !differences) return abilities;
  let result = merged.get(differences);
  if (!result) {
    result = { ...abilities, ...differences };
    merged.set(differences, result);
  }
  return result;
}
