/** Packed texts: read back as they were, whatever else is packed, moved and forgotten meanwhile. */
import { expect, spyOn, test } from 'bun:test';
import { type PackedTexts, Slabs } from '../../../src/inference/cache/slabs.ts';
import { fc } from '../../support/property.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 40 }).filter((each) => each.isWellFormed()),
  fc.integer({ min: 0, max: 20_000 }).map((length) => 'é'.repeat(length)),
  fc.integer({ min: 0, max: 20_000 }).map((length) => 'x'.repeat(length)),
);
const step = fc.oneof(
  fc.record({
    type: fc.constant('pack' as const),
    first: text,
    pieces: fc.array(text, { maxLength: 4 }),
    third: text,
  }),
  fc.record({ type: fc.constantFrom('move' as const, 'release' as const), at: fc.nat(20) }),
);

const nowhere = (): PackedTexts => ({ slab: 0, from: 0, second: 0, third: 0, until: 0 });

interface Known {
  readonly packed: PackedTexts;
  readonly texts: readonly [string, string, string];
}

test('all packed texts can be read until they are released', () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 60 }),
      fc.nat(8_000_000),
      (steps, in_use) => {
        const slabs = new Slabs(() => in_use);
        const known: Known[] = [];
        const expectAll = () => {
          for (const { packed, texts } of known) {
            expect(slabs.read(packed)).toEqual([...texts]);
            expect(slabs.readFirst(packed)).toBe(texts[0]);
          }
        };
        for (const each of steps) {
          if (each.type === 'pack') {
            const packed = nowhere();
            slabs.pack(packed, each.first, each.pieces, each.third);
            known.push({ packed, texts: [each.first, each.pieces.join(''), each.third] });
            continue;
          }
          const at = each.at % Math.max(1, known.length);
          const found = known[at];
          if (!found) continue;
          if (each.type === 'move') slabs.move(found.packed);
          else {
            slabs.release(found.packed.slab);
            known.splice(at, 1);
          }
          expectAll();
        }
        expectAll();
      },
    ),
    { numRuns: 300 },
  );
});

test('a character that two pieces share stays whole', () => {
  const slabs = new Slabs(() => 0);
  const [high, low] = ['😀'.slice(0, 1), '😀'.slice(1)];
  const packed = nowhere();
  slabs.pack(packed, '1', ['a', high, low, 'b'], 'c');
  expect(slabs.read(packed)).toEqual(['1', 'a😀b', 'c']);
});

test('memory that was released and used again is not read for what was in it', () => {
  const slabs = new Slabs(() => 64 * 1024 * 1024);
  const answer = 'x'.repeat(100_000);
  const first = nowhere();
  slabs.pack(first, '1', [answer], 'question');
  const released = { ...first };
  // The next ones fill the memory; then the first one is gone, and the last ones take its place.
  const held = Array.from({ length: 5 }, nowhere);
  for (const packed of held) slabs.pack(packed, '2', [answer], 'question');
  for (const { slab } of [first, ...held]) slabs.release(slab);
  for (let n = 0; n < 12; n += 1) slabs.pack(nowhere(), '3', [answer], 'question');
  expect(() => slabs.read(released)).toThrow(RangeError);
});

test('memory without texts is used again, so that a store of a constant size takes no new memory', () => {
  const taken = spyOn(Buffer, 'allocUnsafeSlow');
  const slabs = new Slabs(() => 64 * 1024 * 1024);
  const answer = 'x'.repeat(10_000);
  const live: PackedTexts[] = [];
  for (let n = 0; n < 2_000; n += 1) {
    const packed = nowhere();
    slabs.pack(packed, '1', [answer], 'question');
    live.push(packed);
    if (live.length > 200) slabs.release((live.shift() as PackedTexts).slab);
  }
  // 200 texts of 10 kB need four pieces of memory; one is filled, one waits, and the first one is empty.
  expect(taken.mock.calls.length).toBeGreaterThan(1);
  expect(taken.mock.calls.length).toBeLessThanOrEqual(7);
  taken.mockRestore();
});
