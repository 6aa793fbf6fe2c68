import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { DIALECT_NAMES, DIALECTS, type Dialect } from '../../src/protocols/dialects.ts';
import { ROOT } from '../house/sources.ts';

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
