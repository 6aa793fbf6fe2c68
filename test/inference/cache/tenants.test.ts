/** P6: no call gets an answer of others, or learns that there is one, whatever it sends. */
import { describe, expect, test } from 'bun:test';
import { builtInModels } from '../../../src/catalogue/built-in.ts';
import { Catalogue } from '../../../src/catalogue/catalogue.ts';
import { AnswerCache, type Lookup } from '../../../src/inference/cache/answer-cache.ts';
import type { Flight, FlightCall, Follower } from '../../../src/inference/cache/flight.ts';
import { Flights } from '../../../src/inference/cache/flights.ts';
import { fc } from '../../support/property.ts';

const SETTINGS = {
  ...{ enabled: true, max_bytes: 10_000_000, max_entries: 10_000 },
  ...{ max_total_bytes: 100_000_000, max_age_ms: 60_000 },
};
const MODELS = new Catalogue(builtInModels());
/** Ids that would be the same text as others if they were joined without their lengths. */
const ORGANIZATIONS = ['org_1', 'org_2', 'org_1/key_1', '5/org_1', '5/org_1/key_1'];
const KEYS = ['key_1', 'key_2', '1/key_1', '', 'org_1'];
/** Prompts that contain what tells other callers apart. */
const PROMPTS = [
  'Hello',
  'org_1',
  '5/org_1/key_1',
  '5:org_16:openai',
  '6:gpt-4oHello',
  'org_1\nHello',
];

interface Asked {
  organization_id: string;
  id: string;
  cache_scope: 'organization' | 'key';
  model: string;
  prompt: string;
}
const anyAsked: fc.Arbitrary<Asked> = fc.record({
  organization_id: fc.constantFrom(...ORGANIZATIONS),
  id: fc.constantFrom(...KEYS),
  cache_scope: fc.constantFrom('organization', 'key'),
  model: fc.constantFrom('gpt-4o', 'gpt-4o-mini'),
  prompt: fc.constantFrom(...PROMPTS),
});

function world() {
  const cache = new AnswerCache({
    settings: () => SETTINGS,
    channels: () => [],
    rules: { isRemoved: () => false, generationOf: () => '' },
    now: () => 1_000_000,
  });
  const open = ({ model: name, prompt, ...key }: Asked): Lookup => {
    const body = { messages: [{ role: 'user', content: prompt }] };
    const model = MODELS.find(name);
    if (!model) throw new Error(`the catalogue has no ${name}`);
    const call = { request_id: crypto.randomUUID(), key, model, body, headers: {} };
    const lookup = cache.open('openai', { ...call, body_text: JSON.stringify(body) }, undefined);
    if (!lookup) throw new Error('the call bypasses the cache');
    return lookup;
  };
  return { open, flights: new Flights<Follower<FlightCall>>() };
}

/** What two calls must have in common to share an answer. */
const placeOf = ({ organization_id, id, cache_scope, model, prompt }: Asked) =>
  JSON.stringify([organization_id, cache_scope === 'key' ? [id] : null, model, prompt]);

const leader = { request_id: crypto.randomUUID(), signal: new AbortController().signal };

describe('an answer of the cache', () => {
  test('P6: goes to its own organization, or key, for its own model and prompt', () => {
    fc.assert(
      fc.property(fc.array(anyAsked, { maxLength: 60 }), (calls) => {
        const { open } = world();
        const stored = new Set<string>();
        for (const asked of calls) {
          const place = placeOf(asked);
          const lookup = open(asked);
          const found = lookup.find(() => true)?.entry.text;
          expect(found).toBe(stored.has(place) ? place : undefined);
          if (stored.has(place)) continue;
          stored.add(place);
          lookup.keep({ text: place, is_stream: false, usage: null, cost_nano_usd: 1 });
        }
      }),
    );
  });

  test('P6: that is on its way is followed by nobody else', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyAsked, fc.boolean()), { maxLength: 60 }), (calls) => {
        const { open, flights } = world();
        const running = new Map<string, Flight>();
        for (const [asked, isOver] of calls) {
          const lookup = open(asked);
          const place = placeOf(asked);
          const flight = running.get(place);
          expect(flights.find(lookup)).toBe(flight);
          if (!flight) running.set(place, flights.lead(lookup, leader));
          else if (isOver) {
            flight.finish({ state: 'failed' });
            running.delete(place);
          }
        }
      }),
    );
  });

  test('P6: is not even compared with the request of another organization or key', () => {
    const asked = { id: 'key_1', model: 'gpt-4o', prompt: 'Hello' };
    const { open, flights } = world();
    for (const cache_scope of ['organization', 'key'] as const) {
      const lookup = open({ ...asked, cache_scope, organization_id: 'org_1' });
      lookup.keep({ text: 'a secret', is_stream: false, usage: null, cost_nano_usd: 1 });
      flights.lead(lookup, leader);
    }
    // The digest takes nearly all the time of a comparison, so a miss without it tells nothing.
    const digest = () => {
      throw new Error('the request was compared');
    };
    const strangers: Asked[] = [
      { ...asked, cache_scope: 'organization', organization_id: 'org_2' },
      { ...asked, cache_scope: 'key', organization_id: 'org_2' },
      { ...asked, cache_scope: 'key', organization_id: 'org_1', id: 'key_2' },
    ];
    for (const stranger of strangers) {
      const lookup = Object.assign(open(stranger), { digest });
      expect(lookup.find(() => true)).toBeUndefined();
      expect(flights.find(lookup)).toBeUndefined();
    }
  });
});
