import { expect, test } from 'bun:test';
import { providersPage } from '../../docs/providers-page.ts';
import { CHANNEL_PROTOCOLS } from '../../src/protocols/names.ts';
import { CHAT_WITNESSES } from '../upstreams/chat/witnesses/table.ts';
import { WITNESSES } from '../upstreams/generation/witnesses.ts';
import { textOf } from './pages.ts';

test('docs/providers.md is up to date: after a change, run "bun run providers"', () => {
  expect(textOf('docs/providers.md')).toBe(providersPage());
});

test('each protocol of a channel is in the tables', () => {
  const known = new Set<string>([...CHAT_WITNESSES, ...WITNESSES].map(({ protocol }) => protocol));
  expect(CHANNEL_PROTOCOLS.filter((protocol) => !known.has(protocol))).toEqual([]);
});
