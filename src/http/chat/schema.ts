import { Type } from '@sinclair/typebox';

const nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

const Part = Type.Object({ type: Type.String() });

const Message = Type.Object({
  role: Type.Union(
    ['developer', 'system', 'user', 'assistant', 'tool', 'function'].map((role) =>
      Type.Literal(role),
    ),
    { errorMessage: 'must be developer, system, user, assistant, tool or function' },
  ),
  content: Type.Optional(
    Type.Union([Type.String(), Type.Array(Part), Type.Null()], {
      errorMessage: 'must be a string or an array of parts with a type',
    }),
  ),
});

/**
 * `POST /v1/chat/completions` (OpenAI docs: Chat Completions). The schema does not check other
 * members, because the upstream knows its models best. Later, Weir refuses members without a price
 * (`billed-parameters.ts`), and the translation those that the model's protocol lacks.
 */
export const ChatRequestSchema = Type.Object({
  model: Type.String({ minLength: 1, maxLength: 200 }),
  messages: Type.Array(Message, { minItems: 1 }),
  stream: nullable(Type.Boolean()),
  stream_options: nullable(Type.Object({ include_usage: nullable(Type.Boolean()) })),
  max_tokens: nullable(Type.Integer({ minimum: 0 })),
  max_completion_tokens: nullable(Type.Integer({ minimum: 0 })),
  n: nullable(Type.Integer({ minimum: 1, maximum: 128 })),
  temperature: nullable(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  tools: nullable(Type.Array(Part)),
  stop: nullable(Type.Union([Type.String(), Type.Array(Type.String())])),
  user: nullable(Type.String()),
  cache_control: nullable(Type.Object({ type: Type.String() })),
});
