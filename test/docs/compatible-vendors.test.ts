import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { readWeirYaml } from '../../src/config/weir-yaml.ts';
import {
  DIALECT_NAMES,
  DIALECTS,
  type Dialect,
  dialectOfAddress,
} from '../../src/protocols/dialects.ts';
import { ROOT } from '../house/sources.ts';
import { PACKAGE_NAMES, sentBy } from '../upstreams/chat/vendors/packages.ts';

const page = await Bun.file(join(ROOT, 'docs/compatible-vendors.md')).text();

/** The cells of the row of a dialect, without backquotes. */
function rowOf(name: string): string[] {
  const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\` |`)) ?? '';
  return row.split('|').map((cell) => cell.replaceAll('`', '').trim());
}

test.each(DIALECT_NAMES)('the page tells what the dialect %s changes', (name) => {
  const dialect: Dialect = DIALECTS[name];
  const [, , hosts = '', limit, options, role, others = ''] = rowOf(name);
  for (const host of dialect.hosts) {
    expect(hosts).toContain(host.startsWith(':') ? `port ${host.slice(1)}` : host);
  }
  expect(limit).toBe(dialect.output_limit);
  expect(options).toBe(dialect.has_stream_options ? 'sent' : 'not sent');
  expect(role).toBe(dialect.has_developer_role ? 'developer or system' : 'system');
  for (const [from, to] of Object.entries(dialect.renamed)) {
    expect(others).toContain(`${from} becomes ${to}`);
  }
  for (const member of dialect.left_out) expect(others).toContain(`${member} is left out`);
});

const MODELS = `
models:
  - id: house-model
    category: chat
    owned_by: house
    family: openai-chat
    price: { input_usd_per_mtok: 1, output_usd_per_mtok: 2 }
`;

test('the channels of the page are valid, and have the dialects of their vendors', async () => {
  const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  const env = new Proxy({}, { get: () => 'key' });
  const reading = readWeirYaml(`channels:\n${blocks.join('')}${MODELS}`, env);
  if (!('config' in reading)) throw new Error(JSON.stringify(reading.mistakes));
  const { channels } = reading.config;
  const dialects = channels.map(({ base_url, dialect }) => dialect ?? dialectOfAddress(base_url));
  expect(dialects).toEqual(channels.map(({ id }) => (id === 'vllm' ? 'compatible' : id)) as never);
  expect([...dialects, 'openai'].sort()).toEqual([...DIALECT_NAMES].sort());
  for (const name of PACKAGE_NAMES.filter((each) => each !== 'compatible')) {
    const { url } = await sentBy(name, 'doStream');
    const channel = channels.find(({ id }) => id === name);
    expect(`${channel?.base_url}/chat/completions`).toBe(url);
  }
});
