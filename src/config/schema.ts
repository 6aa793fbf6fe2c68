import { type Static, Type } from '@sinclair/typebox';
import { DEFAULT_MIN_SAMPLES } from '../catalogue/ranking.ts';
import { ModelOverrideSchema } from '../catalogue/schema.ts';
import { DIALECT_NAMES } from '../protocols/dialects.ts';
import { CHANNEL_PROTOCOLS } from '../protocols/names.ts';
import { TRANSPORTS } from '../upstreams/contract.ts';
import { BASE_URL_PATTERN } from './base-url.ts';

/** The longest time-out: one day. No upstream call takes longer. */
const MAX_TIMEOUT_MS = 24 * 60 * 60 * 1000;

const ChannelSchema = Type.Object(
  {
    id: Type.String({
      pattern: '^[a-z0-9][a-z0-9_-]{0,63}$',
      description: 'Name of the channel: lower case, digits, - and _. Never shown to clients.',
    }),
    protocol: Type.Union(
      CHANNEL_PROTOCOLS.map((name) => Type.Literal(name)),
      { description: 'Protocol of the upstream.' },
    ),
    base_url: Type.String({
      pattern: BASE_URL_PATTERN,
      description:
        'Address of the upstream, e.g. https://api.example.com/v1, without user, query and fragment.',
    }),
    api_key: Type.String({
      // The key of a service account is JSON with spaces and line breaks.
      pattern: '^([\\x21-\\x7e]{1,4096}|\\{[\\s\\x21-\\x7e]{1,16384}\\}\\s*)$',
      description: 'Key of the upstream account. Use env:NAME instead of the key itself.',
    }),
    priority: Type.Integer({ default: 0, description: 'A lower number is tried first.' }),
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
      description: 'The most calls at the same time, on each replica.',
    }),
    timeout_ms: Type.Integer({
      minimum: 100,
      maximum: MAX_TIMEOUT_MS,
      default: 120_000,
      description: 'Time limit of an answer; for a stream, of its start.',
    }),
    first_token_timeout_ms: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: MAX_TIMEOUT_MS,
        description:
          'Time limit of the first token of a stream; then another channel is tried. ' +
          'Default: timeout_ms.',
      }),
    ),
    stall_timeout_ms: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: MAX_TIMEOUT_MS,
        description: 'The longest pause between two events of a stream. Default: timeout_ms.',
      }),
    ),
    transport: Type.Optional(
      Type.Union(
        TRANSPORTS.map((name) => Type.Literal(name)),
        {
          description:
            'HTTP client of the requests to this upstream: own, or the platform’s fetch. ' +
            'Default: WEIR_TRANSPORT.',
        },
      ),
    ),
    dialect: Type.Optional(
      Type.Union(
        DIALECT_NAMES.map((name) => Type.Literal(name)),
        {
          description:
            'Vendor whose dialect of the protocol openai the upstream speaks. ' +
            'Default: by the host of base_url; openai if the host is unknown.',
        },
      ),
    ),
    api_version: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9.-]{1,40}$',
        description:
          'Version of Azure’s interface, e.g. 2025-04-01-preview: the query api-version of requests.',
      }),
    ),
    cost_factor: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1_000,
        description:
          'What this channel costs relative to the catalogue’s price: 0.8 = 20 % less. The routing policy `price` tries the lowest first. Default: 1.',
      }),
    ),
    probe_s: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3_600,
        description:
          'Seconds between probes of a channel whose circuit is open or that is disabled. ' +
          'Default: no probes; a client’s call tests the channel.',
      }),
    ),
    enabled: Type.Boolean({ default: true, description: 'false: the channel takes no calls.' }),
    models: Type.Record(Type.String(), Type.String({ minLength: 1 }), {
      description: 'For each public model id, the id of the model at the upstream.',
    }),
  },
  { additionalProperties: false },
);

/** The whole `weir.yaml`. */
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
      description: 'Models to add to the catalogue, and changes of its models.',
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
        description: 'For each scene, the model of calls that name no model.',
      },
    ),
    ranking: Type.Object(
      {
        min_samples: Type.Integer({
          minimum: 1,
          maximum: 1_000_000,
          default: DEFAULT_MIN_SAMPLES,
          description: 'Outcomes in 24 hours that a model needs to be ranked by its success.',
        }),
      },
      { default: {}, additionalProperties: false, description: 'How models are ranked.' },
    ),
    cache: Type.Object(
      {
        enabled: Type.Boolean({
          default: true,
          description: 'false: every call reaches an upstream.',
        }),
        hours: Type.Number({
          exclusiveMinimum: 0,
          maximum: 720,
          default: 24,
          description: 'How long an answer may be sent again.',
        }),
        max_mb: Type.Integer({
          minimum: 1,
          maximum: 65_536,
          default: 64,
          description: 'Memory for the answers of one organization, on each replica, MB.',
        }),
        max_entries: Type.Integer({
          minimum: 1,
          maximum: 10_000_000,
          default: 50_000,
          description: 'The most answers of one organization, on each replica.',
        }),
        max_total_mb: Type.Integer({
          minimum: 1,
          maximum: 65_536,
          default: 128,
          description: 'Memory for the answers of all organizations, on each replica, MB.',
        }),
        max_shared_mb: Type.Integer({
          minimum: 0,
          maximum: 1_048_576,
          default: 256,
          description:
            'Memory of Redis for the answers of all organizations, MB. An organization has max_mb of it at most. 0: replicas share no answers.',
        }),
      },
      {
        default: {},
        additionalProperties: false,
        description: 'The cache of answers, which answers the second identical call.',
      },
    ),
    own_keys: Type.Object(
      {
        fee_share: Type.Number({
          minimum: 0,
          maximum: 1,
          default: 0,
          description:
            'What a call on an own key of its organization costs: this part of its list price, e.g. 0.05.',
        }),
      },
      {
        default: {},
        additionalProperties: false,
        description: 'Keys of organizations for their own accounts at providers.',
      },
    ),
    roles: Type.Record(Type.String(), Type.Integer({ minimum: 1, maximum: 10_000_000 }), {
      default: {},
      description: 'Requests per minute of each role. Built in: trial, standard and enterprise.',
    }),
  },
  { additionalProperties: false },
);

/** A checked `weir.yaml`. Defaults are filled in, and `env:NAME` is resolved. */
export type WeirYaml = Static<typeof WeirYamlSchema>;
