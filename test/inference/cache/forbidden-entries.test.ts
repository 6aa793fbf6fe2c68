/** Answers that votes or purges forbid: they are not stored by a call in flight, and not kept in memory. */
import { expect, test } from 'bun:test';
import { builtInModels } from '../../../src/catalogue/built-in.ts';
import { Catalogue } from '../../../src/catalogue/catalogue.ts';
import { AnswerCache, type CacheSettings } from '../../../src/inference/cache/answer-cache.ts';
import { Flights } from '../../../src/inference/cache/flights.ts';

const SETTINGS: CacheSettings = {
  ...{ enabled: true, max_age_ms: 60_000 },
  ...{ max_bytes: 100_000, max_total_bytes: 100_000, max_entries: 10 },
};
const KEPT = {
  ...{ text: '{}', is_stream: false, usage: null, cost_nano_usd: 1 },
};
const REQUEST = '01234567-89ab-cdef-0123-456789abcdef';

/** A cache whose rules a test changes. */
function world() {
  const rules = { removed: new Set<string>(), generations: new Map<string, string>() };
  const cache = new AnswerCache({
    settings: () => SETTINGS,
    channels: () => [],
    rules: {
      isRemoved: (organization_id, request_id) => rules.removed.has(organization_id + request_id),
      generationOf: (organization_id) => rules.generations.get(organization_id) ?? '',
    },
    now: () => 1_000_000,
  });
  const model = new Catalogue(builtInModels()).find('gpt-4o');
  if (!model) throw new Error('the catalogue has no such model');
  const body = { messages: [{ role: 'user', content: 'Hello' }] };
  const open = (organization_id = 'org_1') => {
    const key = { id: 'key_1', organization_id };
    const body_text = JSON.stringify(body);
    const call = { request_id: REQUEST, key, model, body, body_text, headers: {} };
    const lookup = cache.open('openai', call, undefined);
    if (!lookup) throw new Error('the call bypasses the cache');
    return lookup;
  };
  const isStored = (organization_id?: string) =>
    open(organization_id).find(() => true) !== undefined;
  return { cache, rules, open, isStored };
}

test('an answer is not stored if votes removed it while its call ran', () => {
  const { rules, open, isStored } = world();
  const running = open();
  rules.removed.add(`org_1${REQUEST}`);
  running.keep(KEPT);
  expect(isStored()).toBe(false);
  open('org_2').keep(KEPT);
  expect(isStored('org_2')).toBe(true);
});

test('an answer of a call that began before a purge is not stored', () => {
  const { rules, open, isStored } = world();
  const running = open();
  rules.generations.set('org_1', '1/0');
  running.keep(KEPT);
  expect(isStored()).toBe(false);
  open().keep(KEPT);
  expect(isStored()).toBe(true);
});

test('a call that began before a purge is followed by none that began after it', () => {
  const { rules, open } = world();
  const running = open();
  const flights = new Flights();
  flights.lead(running, { request_id: REQUEST, signal: new AbortController().signal });
  expect(flights.find(open())).toBeDefined();
  rules.generations.set('org_1', '1/0');
  expect(flights.find(open())).toBeUndefined();
});

test('stored answers go when the rules change, and only those of the organization', () => {
  const { cache, rules, open } = world();
  open().keep(KEPT);
  open('org_2').keep(KEPT);
  const both = cache.bytes;
  rules.removed.add(`org_1${REQUEST}`);
  cache.obeyRules('org_1');
  cache.obeyRules('org_2');
  expect(cache.bytes).toBe(both / 2);
  rules.generations.set('org_2', '1/0');
  cache.obeyRules('org_2');
  expect(cache.bytes).toBe(0);
});
