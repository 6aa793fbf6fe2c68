import type { TSchema } from '@sinclair/typebox';
import { WeirYamlSchema } from './schema.ts';

const FROM_ENVIRONMENT = {
  type: 'string',
  pattern: '^env:',
  description: 'env:NAME reads the value from the environment variable NAME.',
};
const SCALARS = ['string', 'number', 'integer', 'boolean'];

/**
 * Returns the JSON Schema of `weir.yaml` for editors. It allows `env:NAME` for every value, because
 * Weir replaces `env:NAME` before it checks the value.
 */
export function weirYamlJsonSchema(): Record<string, unknown> {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'weir.yaml',
    description: 'Channels, models and roles of a Weir installation.',
    ...(withEnvironment(JSON.parse(JSON.stringify(WeirYamlSchema))) as TSchema),
  };
}

function withEnvironment(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withEnvironment);
  if (typeof schema !== 'object' || schema === null) return schema;
  const node = schema as Record<string, unknown>;
  if (Array.isArray(node['anyOf'])) {
    return { ...node, anyOf: [...node['anyOf'], FROM_ENVIRONMENT] };
  }
  if (SCALARS.includes(String(node['type'])) && node['const'] === undefined) {
    const { description, default: default_value, ...rules } = node;
    const isFreeText = Object.keys(rules).every((key) => key === 'type' || key === 'minLength');
    if (rules['type'] === 'string' && isFreeText) return node;
    return {
      ...(description === undefined ? {} : { description }),
      ...(default_value === undefined ? {} : { default: default_value }),
      anyOf: [rules, FROM_ENVIRONMENT],
    };
  }
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => {
      // A default is a value, not a schema.
      if (key === 'default') return [key, value];
      return [key, key === 'required' ? withoutDefaults(node) : withEnvironment(value)];
    }),
  );
}

/** Returns the required keys that have no default. A file may leave out keys with a default. */
function withoutDefaults({ required, properties }: Record<string, unknown>): string[] {
  const declared = properties as Record<string, Record<string, unknown>>;
  return (required as string[]).filter((name) => declared[name]?.['default'] === undefined);
}
