import { parseArgs } from 'node:util';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

/** Every setting of the process (design 8). Flags win over the environment. */
const EnvironmentSchema = Type.Object({
  PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 3_000 }),
  WEIR_DATA: Type.String({ minLength: 1, default: './data' }),
  WEIR_CONFIG: Type.Optional(Type.String({ minLength: 1 })),
  DATABASE_URL: Type.Optional(Type.String({ minLength: 1 })),
  REDIS_URL: Type.Optional(Type.String({ minLength: 1 })),
  WEIR_BOOTSTRAP_API_KEY: Type.Optional(Type.String({ pattern: '^sk-.{13,}$' })),
  WEIR_BOOTSTRAP_MANAGEMENT_TOKEN: Type.Optional(Type.String({ pattern: '^mt-.{13,}$' })),
  WEIR_BOOTSTRAP_OPERATOR_TOKEN: Type.Optional(Type.String({ pattern: '^op-.{13,}$' })),
  WEIR_BOOTSTRAP_BALANCE_USD: Type.Number({ minimum: 0, maximum: 1_000_000, default: 100 }),
  WEIR_LOG_LEVEL: Type.Union(
    ['debug', 'info', 'warn', 'error', 'silent'].map((level) => Type.Literal(level)),
    { default: 'info' },
  ),
});

export type Environment = Static<typeof EnvironmentSchema>;

export const HELP = `Usage: bin/start [--port N] [--data DIR] [--help]

Runs Weir. Without DATABASE_URL it brings its own PostgreSQL in the data folder.

  --port N     port to listen on (PORT, default 3000; 0 = any free one)
  --data DIR   data folder (WEIR_DATA, default ./data)
  --help       this text

Environment:
  WEIR_CONFIG                      channels and models (default ./weir.yaml if present)
  DATABASE_URL                     PostgreSQL 15 or newer, instead of the embedded one
  REDIS_URL                        Redis 7 or Valkey, shared rate limits for several replicas
  WEIR_BOOTSTRAP_API_KEY           first-run credentials; random if not given
  WEIR_BOOTSTRAP_MANAGEMENT_TOKEN
  WEIR_BOOTSTRAP_OPERATOR_TOKEN
  WEIR_BOOTSTRAP_BALANCE_USD       first deposit (default 100)
  WEIR_LOG_LEVEL                   debug, info, warn, error or silent (default info)
`;

/** A setting that cannot be used; the message names it and what would do. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** Reads flags and environment. Throws ConfigurationError; `help` is true if help was asked for. */
export function readEnvironment(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): { environment: Environment; help: boolean } {
  const flags = readFlags(args);
  const given: Record<string, unknown> = {};
  for (const key of Object.keys(EnvironmentSchema.properties)) {
    const value = flags[key] ?? env[key];
    if (value !== undefined && value !== '') given[key] = value;
  }
  const candidate = Value.Convert(EnvironmentSchema, Value.Default(EnvironmentSchema, given));
  const [wrong] = [...Value.Errors(EnvironmentSchema, candidate)];
  if (wrong) {
    const name = wrong.path.slice(1);
    throw new ConfigurationError(`${name} is not usable: ${wrong.message}. See bin/start --help.`);
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
