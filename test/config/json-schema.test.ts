import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TSchema } from '@sinclair/typebox';
import { weirYamlJsonSchema } from '../../src/config/json-schema.ts';

const published = readFileSync(join(import.meta.dir, '../../docs/weir.schema.json'), 'utf8');

describe('the JSON Schema of weir.yaml', () => {
  test('is published in docs; after a change, run "bun run schema"', () => {
    expect(JSON.parse(published)).toEqual(JSON.parse(JSON.stringify(weirYamlJsonSchema())));
  });

  const all = weirYamlJsonSchema();
  const at = (...path: string[]) =>
    path.reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], all);

  test('requires only keys without a default', () => {
    expect(at('required')).toEqual([]);
    expect(at('properties', 'channels', 'items', 'required')).toEqual([
      'id',
      'protocol',
      'base_url',
      'api_key',
      'models',
    ]);
  });

  test('allows env:NAME where a value has a rule', () => {
    const channel = at('properties', 'channels', 'items', 'properties') as Record<string, TSchema>;
    for (const field of ['id', 'protocol', 'base_url', 'api_key', 'priority', 'enabled']) {
      const anyOf = channel[field]?.['anyOf'] as { pattern?: string }[];
      expect(anyOf.map(({ pattern }) => pattern)).toContain('^env:');
    }
  });

  test('forbids unknown keys', () => {
    expect(at('additionalProperties')).toBe(false);
    expect(at('properties', 'channels', 'items', 'additionalProperties')).toBe(false);
  });
});
