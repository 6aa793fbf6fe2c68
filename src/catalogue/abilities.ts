import { type Static, Type } from '@sinclair/typebox';

/** Words of efforts, from the least to the most (openai `ReasoningEffort`, without `none`). */
export const EFFORTS = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];

/** When a model takes a parameter: beside reasoning too, only without it, or not at all. */
const WhenSchema = Type.Union([
  Type.Literal('always'),
  Type.Literal('without_reasoning'),
  Type.Literal('never'),
]);

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
