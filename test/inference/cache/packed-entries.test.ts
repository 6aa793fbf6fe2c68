/** An entry that is opened is what was stored, however often it was moved before. */
import { expect, test } from 'bun:test';
import { digestOf, type RequestPlace } from '../../../src/inference/cache/canonical-request.ts';
import type { NewEntry } from '../../../src/inference/cache/entry.ts';
import { PackedEntries } from '../../../src/inference/cache/packed-entries.ts';
import { fc } from '../../support/property.ts';

const count = fc.nat({ max: 20_000_000 });
const usage = fc.record(
  {
    ...{ input_tokens: count, cached_input_tokens: count, cache_write_tokens: count },
    ...{ output_tokens: count, cache_write_1h_tokens: count, audio_input_tokens: count },
    ...{ cached_audio_tokens: count, web_searches: count, reasoning_tokens: count },
    paid_nano_usd: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
  },
  {
    requiredKeys: ['input_tokens', 'cached_input_tokens', 'cache_write_tokens', 'output_tokens'],
  },
);
const text = fc.string({ unit: 'grapheme', maxLength: 60 });
const place: fc.Arbitrary<RequestPlace> = fc.record({
  ...{ scope: fc.constantFrom('org_1', '5/org_1/key_1'), kind: fc.constant('openai' as const) },
  ...{ model_id: fc.constantFrom('m', 'n'), version: text, generation: fc.constantFrom('', '1/2') },
  headers: fc.constantFrom({}, { 'anthropic-beta': 'x' }),
});
const entry: fc.Arbitrary<NewEntry> = fc.record({
  request_id: fc.uuid(),
  organization_id: fc.constant('org_1'),
  sketch: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  stored_at_ms: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
  request: fc.option(
    fc.record({
      place,
      body_text: fc.oneof(
        text.map((said) => JSON.stringify({ messages: [said] })),
        fc.constant('no JSON'),
        fc.constant(JSON.stringify({ messages: ['long'.repeat(20_000)] })),
      ),
    }),
    { nil: undefined },
  ),
  answer: fc.record({
    ...{ text, is_stream: fc.boolean(), usage: fc.option(usage), cost_nano_usd: count },
  }),
  known_digest: fc.option(fc.constant('0'.repeat(64)), { nil: undefined }),
});

test('an opened entry is what was stored, however often it was moved', () => {
  const added = fc.record({ entry, moves: fc.nat({ max: 3 }) });
  fc.assert(
    fc.property(fc.array(added, { minLength: 1, maxLength: 60 }), (all) => {
      const entries = new PackedEntries('org_1', () => 0);
      const rows = new Map<number, NewEntry>();
      for (const { entry: stored, moves } of all) {
        let at = entries.add(stored);
        for (let left = moves; left > 0; left -= 1) at = entries.move(at);
        rows.set(at, stored);
      }
      expect(entries.all()).toEqual([...rows.keys()]);
      for (const [at, stored] of rows) {
        const { request_id, sketch, stored_at_ms, request, answer, known_digest } = stored;
        const { model_id = '', generation = '' } = request?.place ?? {};
        const facts = { request_id, model_id, generation };
        expect({ ...entries.factsOf(at) }).toEqual(facts);
        expect(entries.sketchOf(at)).toBe(sketch);
        const bytes = entries.bytesOf(at);
        const opened = entries.open(at);
        expect(entries.open(at)).toBe(opened);
        expect(entries.has(opened)).toBe(true);
        expect(entries.bytesOf(at)).toBe(bytes);
        expect({
          ...{ request_id: opened.request_id, model_id: opened.model_id },
          generation: opened.generation,
        }).toEqual(facts);
        expect(opened).toMatchObject({ organization_id: 'org_1', sketch, stored_at_ms });
        opened.wholeAnswer((kept) => {
          expect(kept).toEqual(answer);
          return undefined;
        });
        const digest = request && (known_digest ?? parsed(() => digestOf(request)));
        expect(parsed(() => opened.digest() ?? undefined)).toBe(digest);
      }
    }),
    { numRuns: 60 },
  );
});

test('an entry that was opened and removed keeps its answer, and its row is gone', () => {
  const entries = new PackedEntries('org_1', () => 0);
  const answer = { text: 'the answer', is_stream: false, usage: null, cost_nano_usd: 1 };
  const stored = { request_id: '1', organization_id: 'org_1', sketch: 1, stored_at_ms: 1 };
  const at = entries.add({ ...stored, request: undefined, answer });
  const opened = entries.open(at);
  entries.remove(at);
  expect(opened.text).toBe('the answer');
  expect(entries.has(opened)).toBe(false);
  expect(entries.size).toBe(0);
});

test('an entry whose long request cannot be read leaves nothing', () => {
  const entries = new PackedEntries('org_1', () => 0);
  const answer = { text: 'the answer', is_stream: false, usage: null, cost_nano_usd: 1 };
  const stored = { request_id: '1', organization_id: 'org_1', sketch: 1, stored_at_ms: 1, answer };
  const place: RequestPlace = {
    ...{ scope: 'org_1', kind: 'openai', model_id: 'm', version: 'v', headers: {} },
  };
  const request = { place, body_text: 'no JSON '.repeat(20_000) };
  expect(() => entries.add({ ...stored, request })).toThrow();
  expect(entries.size).toBe(0);
  expect(entries.all()).toEqual([]);
});

/** What a request has whose body is no JSON: no digest. */
function parsed(read: () => string | undefined): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
