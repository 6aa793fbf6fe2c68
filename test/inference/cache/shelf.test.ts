import { describe, expect, test } from 'bun:test';
import { Entry } from '../../../src/inference/cache/entry.ts';
import { Shelf } from '../../../src/inference/cache/shelf.ts';
import { fc } from '../../support/property.ts';

let made = 0;
function entryOf(cost_nano_usd: number, sketch: number, stored_at_ms = 0): Entry {
  made += 1;
  const kept = { text: 'x'.repeat(100), is_stream: false, usage: null, cost_nano_usd };
  return new Entry(`${made}`, 'org_1', sketch, stored_at_ms, undefined, kept);
}

describe('the entries of an organization', () => {
  test('of the oldest ones, the best stay and begin anew', () => {
    const shelf = new Shelf();
    const entries = Array.from({ length: 100 }, (_, at) => entryOf(at % 4 === 0 ? 500 : 1, at));
    for (const entry of entries) shelf.add(entry);
    const taken = shelf.takeLeast(0, 1_000);
    expect(taken).toEqual(entries.slice(0, 16).filter((_, at) => at % 4 !== 0));
    for (const entry of taken) shelf.remove(entry);
    expect(shelf.takeLeast(0, 1_000)).toEqual(
      entries.slice(16, 32).filter((_, at) => at % 4 !== 0),
    );
  });

  test('of many oldest ones that are worth about the same, none begins anew', () => {
    const shelf = new Shelf();
    const entries = Array.from({ length: 100 }, (_, at) => entryOf(100 + (at % 4), at));
    for (const entry of entries) shelf.add(entry);
    expect(shelf.takeLeast(0, 1_000)).toEqual(entries.slice(0, 16));
  });

  test('an entry that is too old is removed first', () => {
    const shelf = new Shelf();
    const old = entryOf(1_000_000, 1);
    shelf.add(old);
    shelf.add(entryOf(1, 2, 5_000));
    expect(shelf.takeLeast(6_000, 2_000)).toEqual([old]);
  });

  test('holds exactly what was added and not removed, however often', () => {
    const step = fc.record({ add: fc.nat({ max: 900 }), remove: fc.nat({ max: 900 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const shelf = new Shelf();
        const held = new Set<Entry>();
        for (const { add, remove } of steps) {
          for (let left = add; left > 0; left -= 1) {
            const entry = entryOf(left, left % 7);
            shelf.add(entry);
            held.add(entry);
          }
          const chosen = [...held].filter((_, at) => (at * 31) % 3 !== 0).slice(0, remove);
          const some = remove % 2 === 0 || held.size === 0 ? chosen : shelf.takeLeast(0, 1_000);
          for (const entry of some) {
            expect(shelf.has(entry)).toBe(true);
            shelf.remove(entry);
            held.delete(entry);
            expect(shelf.has(entry)).toBe(false);
          }
        }
        expect(shelf.size).toBe(held.size);
        expect(new Set(shelf.list(() => true))).toEqual(held);
        expect(shelf.bytes).toBe([...held].reduce((sum, { bytes }) => sum + bytes, 0));
        for (const entry of held) {
          let found = shelf.newest(entry.sketch);
          while (found && found !== entry) found = found.next;
          expect(found).toBe(entry);
        }
      }),
      { numRuns: 40 },
    );
  });
});
