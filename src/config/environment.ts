import { parseArgs } from 'node:util';
import { FormatRegistry, Kind, type Static, Type, TypeRegistry } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { TRANSPORTS } from '../upstreams/contract.ts';
import { isCidrList } from './cidr-list.ts';
import { parseValue } from './parse-value.ts';

FormatRegistry.Set('cidr-list', isCidrList);
TypeRegistry.Set('DaysOrNever', (_, days) => days === 0 || isLongEnough(days));

/** The results of a batch and a task are charged within less than a month. */
function isLongEnough(days: unknown): boolean {
  return Number.isInteger(days) && Number(days) >= 31 && Number(days) <= 3_650;
}

/** Every setting of the process. A flag overrides its variable. */
const EnvironmentSchema = Type.Object({
  PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 3_000 }),
  WEIR_DATA: Type.String({ minLength: 1, default: './data' }),
  WEIR_CONFIG: Type.Optional(Type.String({ minLength: 1 })),
  WEIR_DASHBOARD: Type.Union([Type.Literal('on'), Type.Literal('off')], {
    default: 'on',
    rule: 'must be on or off',
  }),
  WEIR_PUBLIC_URL: Type.Optional(
    Type.String({
      pattern: '^https?://[^/@\\s?#]+(/[^\\s?#]*)?$',
      rule: 'must be an http or https address without user, query and fragment',
    }),
  ),
  DATABASE_URL: Type.Optional(Type.String({ minLength: 1 })),
  REDIS_URL: Type.Optional(Type.String({ minLength: 1 })),
  WEIR_SECRET_KEY: Type.Optional(Type.String({ minLength: 32 })),
  WEIR_KEPT_ANSWERS_MB: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 256 }),
  WEIR_CIRCUIT_HISTORY_DAYS: Type.Integer({ minimum: 1, maximum: 3_650, default: 30 }),
  // The answer about one actor must fit into the messages of the bus.
  WEIR_ACTOR_EVENTS: Type.Integer({ minimum: 8, maximum: 1_000, default: 64 }),
  WEIR_CALL_RECORD_DAYS: Type.Integer({ minimum: 1, maximum: 3_650, default: 90 }),
  WEIR_USAGE_LINE_DAYS: Type.Unsafe<number>({
    [Kind]: 'DaysOrNever',
    type: 'integer',
    default: 400,
    rule: 'must be 0 or a whole number from 31 to 3650',
  }),
  WEIR_WEBHOOK_ALLOW_HOSTS: Type.Optional(
    Type.String({
      pattern: '^[^,:\\s]+:\\d+(,[^,:\\s]+:\\d+)*$',
      rule: 'must be one or more host:port, separated by commas',
    }),
  ),
  WEIR_OWN_KEY_ALLOW_HOSTS: Type.Optional(
    Type.String({
      pattern: '^[^,:\\s]+:\\d+(,[^,:\\s]+:\\d+)*$',
      rule: 'must be one or more host:port, separated by commas',
    }),
  ),
  WEIR_ALERT_INTERVAL_S: Type.Integer({ minimum: 1, maximum: 3_600, default: 60 }),
  WEIR_WRONG_KEYS_PER_MINUTE: Type.Integer({ minimum: 1, maximum: 1_000_000_000, default: 60 }),
  WEIR_TRUSTED_PROXIES: Type.Optional(
    Type.String({
      format: 'cidr-list',
      rule: 'must be addresses or CIDR blocks, separated by commas, e.g. 10.0.0.0/8,2001:db8::7',
    }),
  ),
  WEIR_METRICS_TOKEN: Type.Optional(
    Type.String({
      pattern: '^[\\x21-\\x7e]{16,512}$',
      rule: 'must be 16 to 512 visible ASCII characters',
    }),
  ),
  WEIR_SMTP_URL: Type.Optional(
    Type.String({
      pattern: '^smtps?://[^\\s/]+/?(\\?\\S*)?$',
      rule: 'must be smtp://user:password@host:port, or smtps://…',
    }),
  ),
  WEIR_MAIL_FROM: Type.Optional(
    Type.String({
      pattern: '^[^\\r\\n]*[^\\s<>@]+@[^\\s<>@]+>?$',
      rule: 'must be an e-mail address, e.g. Weir <weir@example.com>',
    }),
  ),
  WEIR_OIDC_ISSUER: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s?#]+$',
      rule: 'must be the https address of an identity provider',
    }),
  ),
  WEIR_OIDC_CLIENT_ID: Type.Optional(Type.String({ minLength: 1 })),
  WEIR_OIDC_CLIENT_SECRET: Type.Optional(Type.String({ minLength: 1 })),
  WEIR_S3_BUCKET: Type.Optional(Type.String({ minLength: 1 })),
  WEIR_S3_ENDPOINT: Type.Optional(Type.String({ pattern: '^https?://' })),
  WEIR_S3_REGION: Type.Optional(Type.String({ minLength: 1 })),
  WEIR_S3_ACCESS_KEY_ID: Type.Optional(Type.String({ minLength: 1 })),
  WEIR_S3_SECRET_ACCESS_KEY: Type.Optional(Type.String({ minLength: 1 })),
  WEIR_TRANSPORT: Type.Union(
    TRANSPORTS.map((name) => Type.Literal(name)),
    { default: 'own', rule: 'must be own or fetch' },
  ),
  WEIR_BODY_MEMORY_MB: Type.Integer({ minimum: 4, maximum: 1_048_576, default: 512 }),
  WEIR_CACHE: Type.Union([Type.Literal('on'), Type.Literal('off')], {
    default: 'on',
    rule: 'must be on or off',
  }),
  WEIR_BOOTSTRAP_API_KEY: Type.Optional(Type.String({ pattern: '^sk-[\\x21-\\x7e]{4,}$' })),
  WEIR_BOOTSTRAP_MANAGEMENT_TOKEN: Type.Optional(
    Type.String({ pattern: '^mt-[\\x21-\\x7e]{4,}$' }),
  ),
  WEIR_BOOTSTRAP_OPERATOR_TOKEN: Type.Optional(Type.String({ pattern: '^op-[\\x21-\\x7e]{4,}$' })),
  WEIR_BOOTSTRAP_BALANCE_USD: Type.Number({ minimum: 0, maximum: 1_000_000, default: 100 }),
  WEIR_LOG_LEVEL: Type.Union(
    ['debug', 'info', 'warn', 'error', 'silent'].map((level) => Type.Literal(level)),
    { default: 'info', rule: 'must be debug, info, warn, error or silent' },
  ),
});

/** The checked settings of the process. */
export type Environment = Static<typeof EnvironmentSchema>;

/** Text of `--help`. */
export const HELP = `Usage: bin/start [--port N] [--data DIR] [--help]

Runs Weir. Without DATABASE_URL it runs its own PostgreSQL in the data folder.

  --port N     port to listen on (PORT, default 3000; 0 = any free one)
  --data DIR   data folder (WEIR_DATA, default ./data)
  --help       show this text

Environment:
  WEIR_CONFIG                      channels and models (default ./weir.yaml if present)
  WEIR_PUBLIC_URL                  where clients reach Weir, for links to results (default: the
                                   host of each request)
  DATABASE_URL                     PostgreSQL 15 or newer, instead of the embedded one
  REDIS_URL                        Redis 7 or Valkey, shared rate limits for several replicas
  WEIR_SECRET_KEY                  signs addresses of files; must be the same on all replicas
                                   (default: a file in the data folder)
  WEIR_KEPT_ANSWERS_MB             room for answers of calls with an Idempotency-Key, for each
                                   organization (default 256)
  WEIR_CALL_RECORD_DAYS            days after which whole months of records of calls without a
                                   charge are removed (default 90)
  WEIR_USAGE_LINE_DAYS             the same for usage lines; their sums stay; 0 = never, or at
                                   least 31 (default 400)
  WEIR_CIRCUIT_HISTORY_DAYS        days for which changes of channels' circuits are kept
                                   (default 30)
  WEIR_ACTOR_EVENTS                the last events that each quota and channel keeps in memory, 8 to
                                   1000 (default 64)
  WEIR_WEBHOOK_ALLOW_HOSTS         internal hosts that may receive webhooks: host:port,
                                   separated by commas (default: public hosts only)
  WEIR_OWN_KEY_ALLOW_HOSTS         internal hosts that own keys of organizations may name:
                                   host:port, separated by commas (default: public hosts only)
  WEIR_ALERT_INTERVAL_S            seconds between two looks for causes of alerts (default 60)
  WEIR_WRONG_KEYS_PER_MINUTE       the most invalid keys and tokens that one client address
                                   may send in a minute (default 60)
  WEIR_TRUSTED_PROXIES             proxies whose X-Forwarded-For names the client: addresses or
                                   CIDR blocks, separated by commas (default: none)
  WEIR_METRICS_TOKEN               token that may read /metrics from other machines, besides the
                                   operator token
  WEIR_SMTP_URL                    SMTP server for invitations, new passwords and alerts:
                                   smtp://user:password@host:port (default: links are shown)
  WEIR_MAIL_FROM                   the sender of these mails
  WEIR_OIDC_ISSUER                 identity provider for people (OpenID Connect), with
                                   WEIR_OIDC_CLIENT_ID, WEIR_OIDC_CLIENT_SECRET
  WEIR_S3_BUCKET                   bucket for results instead of the data folder, with
                                   WEIR_S3_ENDPOINT, _REGION, _ACCESS_KEY_ID, _SECRET_ACCESS_KEY
  WEIR_DASHBOARD                   on, or off for a replica that serves only the API (default on)
  WEIR_TRANSPORT                   HTTP client for upstreams: own, or the platform's fetch
                                   (default own; with a proxy always fetch)
  WEIR_CACHE                       on, or off: every call reaches an upstream, whatever the
                                   configuration says (default on)
  WEIR_BODY_MEMORY_MB              the most MB of bodies and answers in flight (default 512)
  WEIR_BOOTSTRAP_API_KEY           first-run credentials; random if not given
  WEIR_BOOTSTRAP_MANAGEMENT_TOKEN
  WEIR_BOOTSTRAP_OPERATOR_TOKEN
  WEIR_BOOTSTRAP_BALANCE_USD       first deposit (default 100)
  WEIR_LOG_LEVEL                   debug, info, warn, error or silent (default info)
`;

/** A setting that cannot be used. The message names the setting and its rule. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** Reads flags and environment. `help` is true if `--help` was given. Throws ConfigurationError. */
export function readEnvironment(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): { environment: Environment; help: boolean } {
  const flags = readFlags(args);
  const settings: Record<string, unknown> = {};
  for (const [key, schema] of Object.entries(EnvironmentSchema.properties)) {
    const value = flags[key] ?? env[key];
    if (value !== undefined && value !== '') settings[key] = parseValue(schema.type, value);
  }
  const candidate = Value.Default(EnvironmentSchema, settings);
  const [error] = [...Value.Errors(EnvironmentSchema, candidate)];
  if (error) {
    const name = error.path.slice(1);
    const rule = typeof error.schema['rule'] === 'string' ? error.schema['rule'] : error.message;
    throw new ConfigurationError(`${name} is not usable: ${rule}. See bin/start --help.`);
  }
  return { environment: Value.Decode(EnvironmentSchema, candidate), help: flags.help };
}

function readFlags(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        port: { type: 'string' },
        data: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    const flags: Record<string, string | undefined> = { PORT: values.port, WEIR_DATA: values.data };
    return Object.assign(flags, { help: values.help }) as typeof flags & { help: boolean };
  } catch (error) {
    throw new ConfigurationError(`${(error as Error).message}. See bin/start --help.`);
  }
}
