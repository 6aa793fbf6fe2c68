import { Type } from '@sinclair/typebox';

const Value = Type.Union([Type.Number(), Type.Null()]);
const PointsSchema = Type.Object({ value: Value, values: Type.Array(Value) });
const SERIES = {
  ...{ value: Value, values: Type.Array(Value), requests: Type.Integer() },
  previous: Type.Union([PointsSchema, Type.Null()]),
};
const Name = Type.Union([Type.String(), Type.Null()]);
const SpanSchema = {
  ...{ from: Type.String(), until: Type.String(), buckets: Type.Array(Type.String()) },
};

/** The answer of `GET /v1/management/usage/query`. */
export const UsageQuerySchema = Type.Object(
  {
    object: Type.Literal('usage_query'),
    metric: Type.String(),
    unit: Type.String(),
    group: Name,
    subgroup: Name,
    bucket: Type.String(),
    time_zone: Type.String(),
    ...SpanSchema,
    previous: Type.Union([Type.Object(SpanSchema), Type.Null()]),
    total: Type.Object(SERIES),
    series: Type.Array(Type.Object({ group: Name, subgroup: Name, ...SERIES })),
    other: Type.Union([Type.Object({ count: Type.Integer(), ...SERIES }), Type.Null()]),
    /** From when on all usage is in the answer, if retention removed a part of the range. */
    lines_since: Type.Optional(Type.String()),
    as_of: Type.String(),
  },
  { additionalProperties: false },
);

/** The answer of `GET /v1/management/usage/queries`. */
export const UsageQueriesSchema = Type.Object(
  {
    object: Type.Literal('list'),
    /** In the order of the queries. */
    data: Type.Array(UsageQuerySchema),
    as_of: Type.String(),
  },
  { additionalProperties: false },
);
