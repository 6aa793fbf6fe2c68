import { describe, expect, test } from 'bun:test';
import type { NewEntry } from '../../../src/inference/cache/entry.ts';
import { Shelf } from '../../../src/inference/cache/shelf.ts';
import { fc } from '../../support/property.ts';

let made = 0;
function entryOf(cost_nano_usd: number, sketch: number, stored_at_ms = 0): NewEntry {
  made += 1;
  return {
    ...{ request_id: `${made}`, organization_id: 'org_1', sketch, stored_at_ms },
    request: undefined,
    answer: { text: 'x'.repeat(100), is_stream: false, usage: null, cost_nano_usd },
  };
}

/** A shelf with some entries. */
function shelfOf(entries: readonly NewEntry[]): Shelf {
  const shelf = new Shelf('org_1');
  for (const entry of entries) shelf.add(entry);
  shelf.index();
  return shelf;
}

/** Returns the ids of all requests whose answers a shelf has. */
function idsIn(shelf: Shelf): Set<string> {
  const ids = new Set<string>();
  shelf.removeForbidden(({ request_id }) => {
    ids.add(request_id);
    return false;
  });
  return ids;
}

const idsOf = (entries: readonly NewEntry[]) => new Set(entries.map((each) => each.request_id));

describe('the entries of an organization', () => {
  test('of the oldest ones, the best stay and begin anew', () => {
    const entries = Array.from({ length: 100 }, (_, at) => entryOf(at % 4 === 0 ? 500 : 1, at));
    const shelf = shelfOf(entries);
    const isLeft = (_: NewEntry, at: number) => at % 4 === 0;
    shelf.removeLeast(0, 0);
    expect(idsIn(shelf)).toEqual(
      idsOf([...entries.slice(0, 16).filter(isLeft), ...entries.slice(16)]),
    );
    // Those that stayed are not among the oldest ones any more.
    shelf.removeLeast(0, 0);
    expect(idsIn(shelf)).toEqual(
      idsOf([...entries.slice(0, 32).filter(isLeft), ...entries.slice(32)]),
    );
  });

  test('of many oldest ones that are worth about the same, none begins anew', () => {
    const entries = Array.from({ length: 100 }, (_, at) => entryOf(100 + (at % 4), at));
    const shelf = shelfOf(entries);
    shelf.removeLeast(0, 0);
    expect(idsIn(shelf)).toEqual(idsOf(entries.slice(16)));
  });

  test('an entry that is too old is removed first', () => {
    const entries = [entryOf(1_000_000, 1), entryOf(1, 2, 5_000)];
    const shelf = shelfOf(entries);
    shelf.removeLeast(6_000, 4_000);
    expect(idsIn(shelf)).toEqual(idsOf(entries.slice(1)));
  });

  test('holds exactly what was added and not removed, however often', () => {
    const step = fc.record({
      add: fc.nat({ max: 900 }),
      remove: fc.nat({ max: 900 }),
      open: fc.nat({ max: 20 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const shelf = new Shelf('org_1');
        const held = new Map<string, NewEntry>();
        const find = ({ sketch, request_id }: NewEntry) =>
          shelf.find(sketch, (each, id) => each.request_id === id, request_id);
        for (const { add, remove, open } of steps) {
          for (let left = add; left > 0; left -= 1) {
            const entry = entryOf(left, left % 700);
            shelf.add(entry);
            held.set(entry.request_id, entry);
          }
          shelf.index();
          for (const entry of [...held.values()].slice(0, open)) find(entry);
          if (remove % 2 === 0 && held.size > 0) {
            shelf.removeLeast(0, 0);
            const left = idsIn(shelf);
            for (const id of held.keys()) if (!left.has(id)) held.delete(id);
          }
          const chosen = [...held.values()].filter((_, at) => (at * 31) % 3 !== 0);
          for (const each of chosen.slice(0, remove)) {
            const entry = find(each);
            if (!entry) throw new Error('an entry cannot be found');
            expect(shelf.has(entry)).toBe(true);
            shelf.remove(entry);
            held.delete(each.request_id);
            expect(shelf.has(entry)).toBe(false);
          }
        }
        expect(shelf.size).toBe(held.size);
        expect(idsIn(shelf)).toEqual(idsOf([...held.values()]));
        let bytes = 0;
        for (const each of held.values()) {
          const entry = find(each);
          expect(entry).toMatchObject({ cost_nano_usd: each.answer.cost_nano_usd });
          bytes += entry?.bytes ?? 0;
        }
        expect(shelf.bytes).toBe(bytes);
      }),
      { numRuns: 40 },
    );
  });
});
