/** The API reference: its pages and its OpenAPI document are those that the code prints. */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { openapiText } from '../../docs/reference/openapi.ts';
import { referenceIndex, referencePage } from '../../docs/reference/page.ts';
import { titleOf } from '../../docs/reference/route.ts';
import { REFERENCE_PAGES } from '../../docs/reference/routes.ts';
import { demoConfig } from '../../src/config/demo.ts';
import { projectFiles, ROOT } from '../house/sources.ts';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const slugs = REFERENCE_PAGES.map(({ slug }) => slug);
const routes = REFERENCE_PAGES.flatMap((page) => page.routes);

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: object }> };
}
type Document = { readonly paths: Record<string, Record<string, Operation>> };
const document = (): Document & Record<string, unknown> => JSON.parse(openapiText());

describe('the pages of the reference', () => {
  test('docs/reference.md and docs/openapi.json are printed from the table', () => {
    expect(read('docs/reference.md')).toBe(referenceIndex());
    expect(read('docs/openapi.json')).toBe(openapiText());
  });

  test.each([...REFERENCE_PAGES])('docs/reference/$slug.md is printed from the table', (page) => {
    expect(read(`docs/reference/${page.slug}.md`)).toBe(referencePage(page));
  });

  test('are all that docs/reference has', () => {
    expect(projectFiles('docs/reference/*.md')).toEqual(
      slugs.map((slug) => `docs/reference/${slug}.md`).sort(),
    );
  });

  test('have each route once, and one sentence that says what it does', () => {
    const titles = routes.map(titleOf);
    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
    expect(routes.filter(({ says }) => !/^[A-Z][^.]*(?:3\.1[^.]*)?\.$/.test(says))).toEqual([]);
  });

  test('show bounds, values, defaults and what is required', () => {
    const management = read('docs/reference/management.md');
    expect(management).toContain(
      '| `requests_per_minute` | body | null or integer, 1 to 1,000,000 |',
    );
    expect(management).toContain('| `id` | query | string, 1 to 200 characters; required |');
    expect(read('docs/reference/usage.md')).toContain(
      '| `bucket` | query | `15min`, `hour`, `day`',
    );
    expect(read('docs/reference/calls.md')).toContain('| `messages[].role` | body | `user`');
  });

  test('say who may call a route, from the table that the routes check', () => {
    const page = read('docs/reference/management.md');
    const section = page.split('## `GET /v1/management/webhook-secret`')[1]?.split('\n## ')[0];
    expect(section).toContain(
      'a person with the role owner or admin; a management token with the scope `admin` ',
    );
  });
});

describe('docs/openapi.json', () => {
  test('is a valid OpenAPI 3.1 document', async () => {
    const { valid, errors } = await new Validator().validate(document());
    expect(errors ?? []).toEqual([]);
    expect(valid).toBe(true);
  });

  test('the validator refuses a wrong document', async () => {
    const { valid } = await new Validator().validate({ ...document(), paths: { tasks: 1 } });
    expect(valid).toBe(false);
  });

  test('has each route of the pages, and no other', () => {
    const found = Object.entries(document().paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(found.sort()).toEqual(routes.map(titleOf).sort());
  });

  test('names each operation once, and each parameter of a path once', () => {
    const operations = Object.entries(document().paths).flatMap(([path, methods]) =>
      Object.values(methods).map((operation) => ({ path, operation })),
    );
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { path, operation } of operations) {
      const named = (operation.parameters ?? []).filter((each) => each.in === 'path');
      expect(named.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
      const all = (operation.parameters ?? []).map((each) => `${each.in} ${each.name}`);
      expect(new Set(all).size).toBe(all.length);
    }
  });

  test('has the bounds of the schema that the route checks', () => {
    const { post } = document().paths['/v1/management/api-keys'] ?? {};
    expect(post?.requestBody?.content['application/json']?.schema).toMatchObject({
      additionalProperties: false,
      properties: { tags: { type: 'array', maxItems: 20, items: { maxLength: 64 } } },
    });
    expect(JSON.stringify(post)).not.toContain('errorMessage');
    expect(post?.requestBody?.content['application/json']?.schema).toMatchObject({
      properties: {
        default_image_response_format: {
          type: ['string', 'null'],
          enum: ['url', 'b64_json', null],
        },
      },
    });
  });
});

test('the reference names no channel, no provider account and no physical model', () => {
  const { channels } = demoConfig('http://simulator.invalid');
  const secrets = channels.flatMap(({ id, base_url, api_key, models }) => [
    ...[id, base_url, String(api_key)],
    // A name that is public too is no secret.
    ...Object.entries(models).flatMap(([name, physical]) => (name === physical ? [] : [physical])),
  ]);
  expect(secrets.length).toBeGreaterThan(100);
  const text = [openapiText(), referenceIndex(), ...REFERENCE_PAGES.map(referencePage)].join('\n');
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
});
