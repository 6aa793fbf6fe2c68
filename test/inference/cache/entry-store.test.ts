import { describe, expect, test } from 'bun:test';
import {
  digestOf,
  type RequestIdentity,
  type RequestPlace,
} from '../../../src/inference/cache/canonical-request.ts';
import type { Entry, NewEntry } from '../../../src/inference/cache/entry.ts';
import { EntryStore, type StoreBounds } from '../../../src/inference/cache/entry-store.ts';
import { fc } from '../../support/property.ts';

const BOUNDS: StoreBounds = {
  max_bytes: 20_000,
  max_entries: 12,
  max_total_bytes: 30_000,
  max_age_ms: 60_000,
};

const PLACE: RequestPlace = {
  ...{ scope: 'org_1', kind: 'openai', model_id: 'm', version: 'v', headers: {} },
};

/** What a test knows of an entry that it added. */
interface Added extends Omit<NewEntry, 'request' | 'answer'> {
  readonly digest: string;
}

const NOTHING = { organization_id: 'org_1', sketch: 0, digest: '' };

/** The ids of all entries of an organization. */
function entriesOf(store: EntryStore, organization_id: string): Set<string> {
  const ids = new Set<string>();
  store.removeForbidden(organization_id, ({ request_id }) => {
    ids.add(request_id);
    return false;
  });
  return ids;
}

/** A store on a clock of its own. */
function world(bounds: Partial<StoreBounds> = {}) {
  const clock = { now: 1_000_000 };
  const all = { ...BOUNDS, ...bounds };
  const store = new EntryStore(
    () => all,
    () => clock.now,
  );
  let count = 0;
  const add = (organization_id: string, prompt: string, cost = 100, chars = 200, sketch = 1) => {
    count += 1;
    const request: RequestIdentity = {
      place: { ...PLACE, scope: organization_id },
      body_text: JSON.stringify({ messages: [prompt] }),
    };
    const kept = {
      ...{ text: 'x'.repeat(chars), is_stream: false, usage: null },
      cost_nano_usd: cost,
    };
    const request_id = `${count}`;
    const stored_at_ms = clock.now;
    store.add({
      ...{ request_id, organization_id, sketch, stored_at_ms, request, answer: kept },
    });
    return { request_id, organization_id, sketch, stored_at_ms, digest: String(digestOf(request)) };
  };
  /** Returns an entry that must be there. */
  const found = ({ organization_id, sketch, digest }: Added): Entry => {
    const entry = store.find(organization_id, sketch, digest);
    if (!entry) throw new Error('the entry is not there');
    return entry;
  };
  return { clock, store, add, found };
}

describe('the store of answers', () => {
  test('finds an entry by its digest, and only for its organization', () => {
    const { store, add } = world();
    const { request_id, digest } = add('org_1', 'a');
    add('org_1', 'b');
    expect(store.find('org_1', 1, digest)?.request_id).toBe(request_id);
    expect(store.find('org_2', 1, digest)).toBeUndefined();
    expect(store.mayHave('org_2', 1)).toBe(false);
    expect(store.mayHave('org_1', 2)).toBe(false);
  });

  test('tells that it may have an entry as soon as the entry was added', () => {
    const { store, add } = world({ max_entries: 100, max_bytes: 1e6, max_total_bytes: 1e6 });
    for (let sketch = 1; sketch <= 100; sketch += 1) {
      expect(store.mayHave('org_1', sketch)).toBe(false);
      add('org_1', 'a', 100, 200, sketch);
      // Every third one is asked for at once, and the others when more have been added.
      if (sketch % 3 === 0) expect(store.mayHave('org_1', sketch)).toBe(true);
    }
    for (let sketch = 0; sketch <= 101; sketch += 1) {
      const isThere = sketch >= 1 && sketch <= 100;
      expect({ sketch, mayHave: store.mayHave('org_1', sketch) }).toEqual({
        sketch,
        mayHave: isThere,
      });
      expect(store.mayHave('org_2', sketch)).toBe(false);
    }
  });

  test('forgets an entry that is removed as soon as it was added', () => {
    const { store, add, found } = world();
    const added = add('org_1', 'a');
    const { digest } = added;
    store.remove(found(added));
    expect(store.mayHave('org_1', 1)).toBe(false);
    expect(store.find('org_1', 1, digest)).toBeUndefined();
    expect(store.bytes).toBe(0);
  });

  test('forgets an entry that rules forbid as soon as it was added, and no other one', () => {
    const { store, add, found } = world();
    const [forbidden, kept] = [add('org_1', 'a'), add('org_1', 'b')];
    store.removeForbidden('org_1', ({ request_id }) => request_id === forbidden.request_id);
    expect(store.find('org_1', 1, forbidden.digest)).toBeUndefined();
    expect(found(kept).request_id).toBe(kept.request_id);
    expect(entriesOf(store, 'org_1')).toEqual(new Set([kept.request_id]));
    expect(store.bytes).toBe(found(kept).bytes);
  });

  test('keeps its bounds for large entries that nobody asks for', () => {
    const max_total_bytes = 1_000_000;
    const { store, add } = world({
      max_entries: 1_000,
      max_bytes: max_total_bytes,
      max_total_bytes,
    });
    let largest = 0;
    for (let sketch = 1; sketch <= 100; sketch += 1) {
      add('org_1', 'a', 100, 100_000, sketch);
      largest = Math.max(largest, store.bytes);
    }
    // A few new entries are beyond the bounds until many have come.
    expect(largest).toBeGreaterThan(max_total_bytes / 2);
    expect(largest).toBeLessThan(1.5 * max_total_bytes);
  });

  test('finds an entry for the same request again without its digest, and for no other request', () => {
    const { store, add, found } = world();
    const entry = found(add('org_1', 'a'));
    const place: RequestPlace = { ...PLACE, generation: 'g', headers: { beta: 'x' } };
    const request: RequestIdentity = { place, body_text: '{}' };
    expect(store.findAgain('org_1', 1, request, 1_000_000)).toBeUndefined();
    entry.remember(request);
    store.remeasure(entry);
    expect(store.findAgain('org_1', 1, structuredClone(request), 1_000_000)).toBe(entry);
    expect(store.findAgain('org_2', 1, request, 1_000_000)).toBeUndefined();
    const others: Partial<RequestPlace & RequestIdentity>[] = [
      ...[{ scope: 'org_2' }, { kind: 'anthropic' as const }, { model_id: 'n' }, { version: 'w' }],
      ...[{ generation: 'h' }, { headers: {} }, { headers: { beta: 'y' } }, { body_text: '{} ' }],
      { headers: { beta: 'x', more: 'y' } },
    ];
    for (const { body_text = '{}', ...other } of others) {
      const changed = { place: { ...place, ...other }, body_text };
      expect(store.findAgain('org_1', 1, changed, 1_000_000)).toBeUndefined();
    }
  });

  test('an entry that was found has its answer, though it is removed before the answer is read', () => {
    const { store } = world();
    const request = { place: PLACE, body_text: '{}' };
    const kept = { text: 'the answer', is_stream: false, usage: null, cost_nano_usd: 1 };
    // Its digest is known, as that of an answer from another replica: nothing of it was read to find it.
    store.add({
      ...{ request_id: '1', organization_id: 'org_1', sketch: 1, stored_at_ms: 1_000_000 },
      ...{ request, answer: kept, known_digest: 'digest' },
    });
    const entry = store.find('org_1', 1, 'digest');
    if (!entry) throw new Error('the entry is not there');
    store.remove(entry);
    expect(store.find('org_1', 1, 'digest')).toBeUndefined();
    expect(entry.text).toBe('the answer');
  });

  test('counts the text of the request that it remembers, unless it is long', () => {
    const { store, add, found } = world();
    const entry = found(add('org_1', 'a'));
    const of = (body_text: string) => {
      entry.remember({ place: PLACE, body_text });
      store.remeasure(entry);
      return store.bytes;
    };
    expect(of('x'.repeat(1_000)) - of('')).toBe(1_000);
    expect(of('x'.repeat(100_000)) - of('')).toBe(0);
  });

  test('does not return an entry that is too old, and frees it', () => {
    const { store, add, clock } = world();
    const { digest } = add('org_1', 'a');
    add('org_2', 'b');
    clock.now += BOUNDS.max_age_ms + 1;
    expect(store.find('org_1', 1, digest)).toBeUndefined();
    store.removeOld();
    expect(store.bytes).toBe(0);
  });

  test('removes the entry that saves the least per byte', () => {
    const { store, add } = world({ max_entries: 3 });
    const dear = add('org_1', 'dear', 1_000);
    const cheap = add('org_1', 'cheap', 10);
    const large = add('org_1', 'large', 1_000, 1_500);
    add('org_1', 'one more', 500);
    expect(store.find('org_1', 1, cheap.digest)).toBeUndefined();
    add('org_1', 'another', 900);
    expect(store.find('org_1', 1, large.digest)).toBeUndefined();
    expect(store.find('org_1', 1, dear.digest)?.request_id).toBe(dear.request_id);
  });

  test('an entry that was sent again is worth more; an old one is worth less', () => {
    const { store, add, found, clock } = world({ max_entries: 2, max_age_ms: 100 * 3_600_000 });
    const used = add('org_1', 'used');
    found(used).hits = 3;
    store.remeasure(found(used));
    const unused = add('org_1', 'unused');
    add('org_1', 'new', 150);
    expect(store.find('org_1', 1, unused.digest)).toBeUndefined();
    clock.now += 50 * 3_600_000;
    add('org_1', 'newer', 150);
    expect(store.find('org_1', 1, used.digest)).toBeDefined();
  });

  test('an organization takes no room of another one within its own bound', () => {
    const { store, add } = world({ max_total_bytes: 8_000, max_bytes: 6_400, max_entries: 100 });
    const small = add('org_small', 'kept', 1);
    for (let at = 0; at < 40; at += 1) add('org_large', `prompt ${at}`, 1_000_000);
    expect(store.find('org_small', 1, small.digest)?.request_id).toBe(small.request_id);
    expect(store.bytes).toBeLessThanOrEqual(8_000);
  });

  test('an answer that is too large is not stored', () => {
    const { store, add } = world();
    add('org_1', 'large', 1_000, 19_000);
    expect(store.bytes).toBe(0);
  });

  test('stays within all bounds, and finds exactly what it holds', () => {
    const step = fc.record({
      organization: fc.constantFrom('org_1', 'org_2', 'org_3'),
      prompt: fc.integer({ min: 0, max: 30 }),
      cost: fc.integer({ min: 0, max: 1_000 }),
      chars: fc.integer({ min: 0, max: 3_000 }),
      sketch: fc.integer({ min: 0, max: 3 }),
      action: fc.constantFrom('add', 'add', 'add', 'remove', 'wait'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const { store, add, clock } = world();
        const added: Added[] = [];
        for (const { organization, prompt, cost, chars, sketch, action } of steps) {
          if (action === 'wait') clock.now += 20_000;
          else if (action === 'add')
            added.push(add(organization, `${prompt}`, cost, chars, sketch));
          else {
            const { organization_id, ...chosen } = added[prompt % (added.length || 1)] ?? NOTHING;
            const entry = store.find(organization_id, chosen.sketch, chosen.digest);
            if (entry) store.remove(entry);
          }
          if (prompt % 7 === 0) store.removeOld();
        }
        const held = new Set<string>();
        for (const organization of ['org_1', 'org_2', 'org_3']) {
          const ids = entriesOf(store, organization);
          expect(ids.size).toBeLessThanOrEqual(BOUNDS.max_entries);
          for (const id of ids) held.add(id);
        }
        expect(store.bytes).toBeLessThanOrEqual(BOUNDS.max_total_bytes);
        const bytes = new Map<string, Map<Entry, number>>();
        // The newest first: an older one with the same request is found only when the newer one is gone.
        for (const each of added.toReversed()) {
          const { organization_id, request_id } = each;
          const before = store.bytes;
          const entry = store.find(organization_id, each.sketch, each.digest);
          if (entry) {
            expect(entry.organization_id).toBe(organization_id);
            expect(held.delete(entry.request_id)).toBe(true);
            store.remove(entry);
            const sizes = bytes.get(organization_id) ?? new Map<Entry, number>();
            bytes.set(organization_id, sizes.set(entry, entry.bytes));
            expect(store.bytes).toBe(before - entry.bytes);
          } else if (held.delete(request_id)) {
            expect(clock.now - each.stored_at_ms).toBeGreaterThan(BOUNDS.max_age_ms);
          }
        }
        for (const sizes of bytes.values()) {
          const sum = [...sizes.values()].reduce((all, size) => all + size, 0);
          expect(sum).toBeLessThanOrEqual(BOUNDS.max_bytes);
        }
        // What is left is too old to be found.
        clock.now += BOUNDS.max_age_ms + 1;
        store.removeOld();
        expect(store.bytes).toBe(0);
      }),
    );
  });
});
