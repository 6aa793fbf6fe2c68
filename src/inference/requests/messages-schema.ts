import { type Static, Type } from '@sinclair/typebox';

const Block = Type.Object({ type: Type.String() });

const Message = Type.Object({
  role: Type.Union([Type.Literal('user'), Type.Literal('assistant')], {
    errorMessage: 'must be user or assistant',
  }),
  content: Type.Union([Type.String(), Type.Array(Block)], {
    errorMessage: 'must be a string or an array of blocks with a type',
  }),
});

/**
 * Body of `POST /v1/messages` (spec: Messages; Anthropic docs: Messages). Fields that are not in
 * this schema go to the upstream unchanged. Anthropic advises against using `temperature` and
 * `top_p` together, but accepts both.
 */
export const MessagesRequestSchema = Type.Object({
  model: Type.String({ minLength: 1, maxLength: 200 }),
  messages: Type.Array(Message, { minItems: 1 }),
  max_tokens: Type.Integer({ minimum: 1 }),
  system: Type.Optional(
    Type.Union([Type.String(), Type.Array(Block)], {
      errorMessage: 'must be a string or an array of text blocks',
    }),
  ),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: Type.Optional(Type.Integer({ minimum: 0 })),
  stream: Type.Optional(Type.Boolean()),
  thinking: Type.Optional(
    Type.Object({
      type: Type.String(),
      budget_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
    }),
  ),
  tools: Type.Optional(Type.Array(Type.Object({}))),
  tool_choice: Type.Optional(Type.Object({ type: Type.String() })),
  stop_sequences: Type.Optional(Type.Array(Type.String())),
  metadata: Type.Optional(Type.Object({})),
});

/** A validated body of `POST /v1/messages`. */
export type MessagesRequest = Static<typeof MessagesRequestSchema>;
