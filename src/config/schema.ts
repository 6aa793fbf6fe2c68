import { type Static, Type } from '@sinclair/typebox';
import { DEFAULT_MIN_SAMPLES } from '../catalogue/ranking.ts';
import { ModelOverrideSchema } from '../catalogue/schema.ts';
import { CHANNEL_PROTOCOLS } from '../protocols/names.ts';

/** A day in milliseconds is more than any upstream call takes, and less than a timer can hold. */
const MAX_TIMEOUT_MS = 24 * 60 * 60 * 1000;

const ChannelSchema = Type.Object(
  {
    id: Type.String({
      pattern: '^[a-z0-9][a-z0-9_-]{0,63}$',
      description: 'Name of the channel: lower case, digits, - and _. Never shown to clients.',
    }),
    protocol: Type.Union(
      CHANNEL_PROTOCOLS.map((name) => Type.Literal(name)),
      { description: 'What the upstream speaks.' },
    ),
    base_url: Type.String({
      pattern: '^https?://[^/@\\s]+',
      description: 'Where the upstream is, e.g. https://api.example.com/v1.',
    }),
    api_key: Type.String({
      // A service account's key is a JSON text, with its own spaces and line ends.
      pattern: '^([\\x21-\\x7e]{1,4096}|\\{[\\s\\x21-\\x7e]{1,16384}\\}\\s*)$',
      description: 'The upstream account’s key; better env:NAME than the key itself.',
    }),
    priority: Type.Integer({ default: 0, description: 'Lower is tried first.' }),
    weight: Type.Number({
      exclusiveMinimum: 0,
      maximum: 1_000_000,
      default: 1,
      description: 'Share of the calls among channels of the same priority.',
    }),
    max_concurrency: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 200,
      description: 'Calls at a time, per replica.',
    }),
    timeout_ms: Type.Integer({
      minimum: 100,
      maximum: MAX_TIMEOUT_MS,
      default: 120_000,
      description: 'How long an answer may take; of a stream, its beginning.',
    }),
    first_token_timeout_ms: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: MAX_TIMEOUT_MS,
        description:
          'How long a stream may take to its first words before another channel is tried; ' +
          'timeout_ms if nothing is said.',
      }),
    ),
    stall_timeout_ms: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: MAX_TIMEOUT_MS,
        description:
          'The longest silence in the middle of a stream; timeout_ms if nothing is said.',
      }),
    ),
    cost_factor: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1_000,
        description: 'What the account costs beside the catalogue’s price; for the policy price.',
      }),
    ),
    probe_s: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3_600,
        description:
          'Seconds between calls of Weir’s own that find out whether a sick channel is well again; ' +
          'without it a client’s call finds out.',
      }),
    ),
    enabled: Type.Boolean({ default: true, description: 'false = take no calls.' }),
    models: Type.Record(Type.String(), Type.String({ minLength: 1 }), {
      description: 'Public model id: what the upstream calls the model.',
    }),
  },
  { additionalProperties: false },
);

/** The whole of `weir.yaml` (design 8). */
export const WeirYamlSchema = Type.Object(
  {
    channels: Type.Array(ChannelSchema, {
      default: [],
      maxItems: 1_000,
      description: 'Connections to upstream accounts.',
    }),
    models: Type.Array(ModelOverrideSchema, {
      default: [],
      maxItems: 10_000,
      description: 'Models that the catalogue does not have, or has differently.',
    }),
    default_models: Type.Object(
      {
        image: Type.Optional(Type.String({ minLength: 1 })),
        video: Type.Optional(Type.String({ minLength: 1 })),
        music: Type.Optional(Type.String({ minLength: 1 })),
        '3d': Type.Optional(Type.String({ minLength: 1 })),
        audio: Type.Optional(Type.String({ minLength: 1 })),
      },
      {
        default: {},
        additionalProperties: false,
        description: 'Which model makes what a call wants that names none.',
      },
    ),
    ranking: Type.Object(
      {
        min_samples: Type.Integer({
          minimum: 1,
          maximum: 1_000_000,
          default: DEFAULT_MIN_SAMPLES,
          description: 'Outcomes in 24 hours that give a model a place by its success.',
        }),
      },
      { default: {}, additionalProperties: false, description: 'How models are ranked.' },
    ),
    roles: Type.Record(Type.String(), Type.Integer({ minimum: 1, maximum: 10_000_000 }), {
      default: {},
      description: 'Requests per minute of a role; trial, standard and enterprise exist.',
    }),
  },
  { additionalProperties: false },
);

/** A checked `weir.yaml`, defaults filled in and `env:NAME` resolved. */
export type WeirYaml = Static<typeof WeirYamlSchema>;
