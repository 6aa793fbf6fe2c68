/** The page of each kind of id. */
import { expect, test } from 'bun:test';
import { PAGES } from '../../src/http/web/pages.ts';
import { targetOf } from '../../web/pages/go/target.ts';

const KINDS = [
  ...['request', 'task', 'batch', 'delivery', 'key', 'token', 'person', 'invitation'],
  ...['audit_line', 'view', 'debug_window', 'budget', 'upstream_key'],
  ...['alert', 'alert_endpoint', 'alert_delivery'],
];

test.each(KINDS)('an id of the kind %s has a page that the server knows', (kind) => {
  const target = targetOf({ kind, id: 'x_1' }) ?? '';
  const patterns = PAGES.map((page) => new RegExp(`^${page.replace(/:\w+/g, '[^/]+')}$`));
  expect(patterns.filter((pattern) => pattern.test(target))).not.toEqual([]);
});

test('a webhook is on the page of its task', () => {
  expect(targetOf({ kind: 'delivery', id: 'msg_weir_0a1b' })).toBe('/tasks/weir_0a1b');
});

test('an unknown kind has none', () => {
  expect(targetOf({ kind: 'moon', id: '1' })).toBeUndefined();
});
