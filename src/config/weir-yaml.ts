import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { closest } from 'fastest-levenshtein';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { ModelSchema } from '../catalogue/schema.ts';
import type { ChannelConfig } from '../upstreams/contract.ts';
import { ConfigurationError } from './environment.ts';

const ChannelSchema = Type.Object(
  {
    id: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' }),
    protocol: Type.Union([Type.Literal('openai'), Type.Literal('anthropic')]),
    base_url: Type.String({ pattern: '^https?://' }),
    api_key: Type.String({ minLength: 1 }),
    priority: Type.Integer({ default: 0 }),
    weight: Type.Number({ exclusiveMinimum: 0, default: 1 }),
    max_concurrency: Type.Integer({ minimum: 1, default: 200 }),
    timeout_ms: Type.Integer({ minimum: 100, default: 120_000 }),
    enabled: Type.Boolean({ default: true }),
    models: Type.Record(Type.String(), Type.String({ minLength: 1 })),
  },
  { additionalProperties: false },
);

/** The whole of `weir.yaml` (design 8); published as a JSON Schema. */
export const WeirYamlSchema = Type.Object(
  {
    channels: Type.Array(ChannelSchema, { default: [] }),
    models: Type.Array(ModelSchema, { default: [] }),
    /** Requests per minute of a role. */
    roles: Type.Record(Type.String(), Type.Integer({ minimum: 1 }), { default: {} }),
  },
  { additionalProperties: false },
);

export type WeirYaml = Static<typeof WeirYamlSchema> & { channels: ChannelConfig[] };

/**
 * Reads `weir.yaml`. Pure: a value `env:NAME` is looked up in `env`. Throws ConfigurationError that
 * names every line with a mistake.
 */
export function parseWeirYaml(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
  file = 'weir.yaml',
): WeirYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const mistakes: string[] = document.errors.map(
    (error) => `${file}:${lines.linePos(error.pos[0]).line}: ${error.message}`,
  );
  if (mistakes.length > 0) throw new ConfigurationError(mistakes.join('\n'));
  const lineOf = (path: string) => lineAt(document, path, lines);
  const resolved = resolveEnv(document.toJS() ?? {}, env, '', (path, name) =>
    mistakes.push(`${file}:${lineOf(path)}: the environment has no ${name}`),
  );
  const candidate = Value.Default(WeirYamlSchema, resolved);
  for (const error of Value.Errors(WeirYamlSchema, candidate)) {
    const unknown = error.message === 'Unexpected property';
    const advice = unknown ? didYouMean(error.path) : '';
    mistakes.push(
      `${file}:${lineOf(error.path)}: ${error.path.slice(1)}: ${error.message}${advice}`,
    );
  }
  if (mistakes.length > 0) throw new ConfigurationError(mistakes.join('\n'));
  const config = Value.Decode(WeirYamlSchema, candidate) as WeirYaml;
  const repeated = config.channels.find(
    ({ id }, index) => config.channels.findIndex((other) => other.id === id) !== index,
  );
  if (repeated) throw new ConfigurationError(`${file}: two channels are called ${repeated.id}`);
  return config;
}

function resolveEnv(
  value: unknown,
  env: Readonly<Record<string, string | undefined>>,
  path: string,
  missing: (path: string, name: string) => void,
): unknown {
  if (typeof value === 'string' && value.startsWith('env:')) {
    const name = value.slice(4);
    if (env[name] === undefined) missing(path, name);
    return env[name] ?? '';
  }
  if (Array.isArray(value)) {
    return value.map((each, index) => resolveEnv(each, env, `${path}/${index}`, missing));
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [
        key,
        resolveEnv(each, env, `${path}/${key}`, missing),
      ]),
    );
  }
  return value;
}

/** The line of a JSON pointer, or of the nearest thing around it that stands in the file. */
function lineAt(document: Document, pointer: string, lines: LineCounter): number {
  const steps = pointer.split('/').slice(1);
  for (let length = steps.length; length >= 0; length -= 1) {
    const path = steps.slice(0, length).map((step) => (/^\d+$/.test(step) ? Number(step) : step));
    const node = document.getIn(path, true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

function didYouMean(path: string): string {
  const names = [
    ...Object.keys(WeirYamlSchema.properties),
    ...Object.keys(ChannelSchema.properties),
    ...Object.keys(ModelSchema.properties),
  ];
  return ` (did you mean ${closest(path.split('/').at(-1) ?? '', names)}?)`;
}
