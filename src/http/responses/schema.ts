import { Type } from '@sinclair/typebox';

const nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

const Item = Type.Object({ type: Type.Optional(Type.String()) });

/**
 * `POST /v1/responses` (OpenAI docs: Responses). The schema is lenient on purpose, like
 * `ChatRequestSchema`. If the model's protocol lacks a member, the translation refuses that member
 * by name later (`src/upstreams/translation`).
 */
export const ResponsesRequestSchema = Type.Object({
  model: Type.String({ minLength: 1, maxLength: 200 }),
  input: Type.Union([Type.String(), Type.Array(Item)], {
    errorMessage: 'must be a string or an array of items',
  }),
  instructions: nullable(Type.String()),
  stream: nullable(Type.Boolean()),
  store: nullable(Type.Boolean()),
  previous_response_id: nullable(Type.String({ minLength: 1, maxLength: 100 })),
  max_output_tokens: nullable(Type.Integer({ minimum: 1 })),
  temperature: nullable(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  tools: nullable(Type.Array(Type.Object({ type: Type.String() }))),
  metadata: nullable(Type.Record(Type.String(), Type.String({ maxLength: 512 }))),
  cache_control: nullable(Type.Object({ type: Type.String() })),
});
