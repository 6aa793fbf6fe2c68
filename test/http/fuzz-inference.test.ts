import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { startTestApp, type TestApp } from '../support/app.ts';
import { anyJson, anyNumber, anyText, mutated, sometimes } from '../support/arbitrary-json.ts';
import { errorOf, nativeErrorOf } from '../support/envelope.ts';
import { fc } from '../support/property.ts';

/** A busy machine may need longer than the default of 5 s. */
setDefaultTimeout(60_000);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

/** A fixed seed: a failure is reproducible. */
const SAMPLE = { numRuns: 5_000, seed: 20_261_121 };
const AT_ONCE = 50;

const anyBlock = fc.oneof(
  fc.record({ type: fc.constant('text'), text: anyText }),
  fc.record({
    type: fc.constant('image'),
    source: fc.oneof(
      fc.record({ type: fc.constant('url'), url: sometimes(anyText) }),
      fc.record({ type: fc.constant('base64'), media_type: anyText, data: sometimes(anyText) }),
      anyJson,
    ),
  }),
  fc.record({ type: fc.constant('tool_result'), content: fc.oneof(anyText, fc.array(anyJson)) }),
  anyJson,
);
const anyContent = fc.oneof(anyText, fc.array(anyBlock, { maxLength: 3 }), anyJson);
const messagesOf = (roles: string[]) =>
  fc.array(
    fc.oneof(
      { weight: 9, arbitrary: fc.record({ role: fc.constantFrom(...roles), content: anyContent }) },
      { weight: 1, arbitrary: anyJson },
    ),
    { minLength: 1, maxLength: 3 },
  );

/** Mostly valid values, so that some bodies are valid as a whole. */
const mostly = (right: fc.Arbitrary<unknown>, any: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 9, arbitrary: right }, { weight: 1, arbitrary: any });
const share = mostly(fc.double({ min: 0, max: 1, noNaN: true }), anyNumber);

const optional = {
  temperature: sometimes(share),
  top_p: sometimes(share),
  stream: sometimes(fc.boolean()),
  tools: sometimes(mostly(fc.constant([{ type: 'function' }]), fc.array(anyJson))),
  future_field: sometimes(anyJson),
};
const sensibleMessage = fc.constant([{ role: 'user', content: 'hello' }]);

const chatBody = mutated(
  fc.record({
    model: fc.oneof(fc.constantFrom('gpt-4o', 'gpt-5', 'gpt-4o-mni', 'claude-haiku-4-5'), anyText),
    messages: fc.oneof(
      sensibleMessage,
      messagesOf(['user', 'system', 'developer', 'assistant', 'tool', 'robot']),
    ),
    max_tokens: sometimes(fc.integer({ min: -1, max: 100 })),
    n: sometimes(fc.integer({ min: 0, max: 200 })),
    ...optional,
  }),
);
const messagesBody = mutated(
  fc.record({
    model: fc.oneof(fc.constantFrom('claude-haiku-4-5', 'claude-opus', 'gpt-4o'), anyText),
    messages: fc.oneof(
      sensibleMessage,
      messagesOf(['user', 'user', 'assistant', 'system', 'developer', 'robot']),
    ),
    max_tokens: mostly(fc.integer({ min: 1, max: 100 }), anyNumber),
    system: sometimes(mostly(anyText, anyContent)),
    thinking: sometimes(mostly(fc.constant({ type: 'adaptive' }), anyJson)),
    top_k: sometimes(mostly(fc.nat(100), anyNumber)),
    ...optional,
  }),
);

interface Target {
  path: string;
  bodies: fc.Arbitrary<unknown>;
  errorOf: typeof errorOf;
}

const TARGETS: Target[] = [
  { path: '/v1/chat/completions', bodies: chatBody, errorOf },
  { path: '/v1/messages', bodies: messagesBody, errorOf: nativeErrorOf },
];
const VERSION = { 'anthropic-version': '2023-06-01' };

describe.each(TARGETS)('POST $path', (target) => {
  test(`answers each of ${SAMPLE.numRuns} bodies with 200 or the error envelope`, async () => {
    const bodies = fc.sample(target.bodies, SAMPLE);
    const statuses = new Map<number, number>();
    for (let start = 0; start < bodies.length; start += AT_ONCE) {
      await Promise.all(
        bodies.slice(start, start + AT_ONCE).map(async (body) => {
          const response = await app.post(target.path, body, VERSION);
          statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
          if (response.status === 200) return expect(await response.json()).toEqual({ ok: true });
          const error = await target.errorOf(response, 400);
          // Every 400 of these routes must name a parameter.
          expect(error.param).toBeString();
        }),
      );
    }
    // 200 and 400 must both be frequent. Otherwise the bodies prove nothing.
    expect(statuses.get(200)).toBeGreaterThan(SAMPLE.numRuns / 50);
    expect(statuses.get(400)).toBeGreaterThan(SAMPLE.numRuns / 10);
    expect(app.reported.filter((error) => (error as { id?: string }).id === undefined)).toEqual([]);
  });

  test('answers raw bytes with the error envelope', async () => {
    const bodies = fc.sample(fc.uint8Array({ maxLength: 200 }), { ...SAMPLE, numRuns: 500 });
    await Promise.all(
      bodies.map(async (bytes) => {
        const response = await app.fetch(target.path, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...VERSION },
          body: bytes,
        });
        expect((await target.errorOf(response, 400)).param).toBe('body');
      }),
    );
  });
});
