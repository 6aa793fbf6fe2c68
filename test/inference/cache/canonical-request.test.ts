/** Two requests have the same digest if and only if the same answer is right for both. */
import { describe, expect, test } from 'bun:test';
import {
  canonicalBody,
  digestOf,
  type RequestIdentity,
  type RequestPlace,
} from '../../../src/inference/cache/canonical-request.ts';
import type { CachedKind } from '../../../src/inference/cache/neutral-ids.ts';
import { sketchOf } from '../../../src/inference/cache/sketch.ts';
import { anyJson, anyText } from '../../support/arbitrary-json.ts';
import { fc } from '../../support/property.ts';

const canonical = (kind: CachedKind, body: object) => canonicalBody(kind, JSON.stringify(body));
const PLACE: RequestPlace = {
  ...{ scope: 'org_1', kind: 'openai', model_id: 'gpt-4o', version: 'v1', headers: {} },
};
/** Returns the digest of a request that differs from a usual one. */
const digestWith = ({ body_text = '{"messages":[]}', ...change }: Change) =>
  digestOf({ place: { ...PLACE, ...change }, body_text });
type Change = Partial<RequestPlace & RequestIdentity>;
const ask = (content: unknown, more: object = {}) => ({
  messages: [{ role: 'user', content }],
  ...more,
});

/** Writes JSON with the keys of all objects in another order, and with spaces. */
function shuffled(value: unknown): string {
  if (Array.isArray(value)) return `[ ${value.map(shuffled).join(' , ')} ]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).reverse();
  return `{ ${members.map(([name, each]) => `${JSON.stringify(name)} : ${shuffled(each)}`).join(' ,\n')} }`;
}

describe('the canonical form', () => {
  test('does not depend on the order of keys and on spaces', () => {
    fc.assert(
      fc.property(anyJson, (content) => {
        const body = ask(content, { tools: [content], max_tokens: 5 });
        expect(canonicalBody('openai', shuffled(body))).toBe(canonical('openai', body));
      }),
    );
  });

  test('differs for bodies that differ', () => {
    fc.assert(
      fc.property(anyJson, anyJson, (one, other) => {
        const [a, b] = [JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other))];
        const isSame = canonical('openai', ask(a)) === canonical('openai', ask(b));
        expect(isSame).toBe(Bun.deepEquals(a, b, true) || JSON.stringify(a) === JSON.stringify(b));
      }),
    );
  });

  test.each([
    ['openai', { user: 'u', metadata: { a: 'b' }, stream: true, stream_options: {}, model: 'x' }],
    ['openai', { safety_identifier: 's', prompt_cache_key: 'k', prompt_cache_retention: '24h' }],
    ['anthropic', { metadata: { user_id: 'u' }, stream: true, model: 'x' }],
    ['responses', { store: false, previous_response_id: 'resp_1', user: 'u', metadata: {} }],
    ['gemini', { labels: { a: 'b' }, model: 'x', stream: true }],
    ['embedding', { user: 'u', model: 'x' }],
    ['openai', { cache_control: { type: 'response_only' } }],
  ] as const)('of %s leaves out %p', (kind, more) => {
    expect(canonical(kind, { messages: [], ...more })).toBe(canonical(kind, { messages: [] }));
  });

  test('leaves out how the input of a tool of Anthropic is streamed', () => {
    const tool = { name: 'a', input_schema: { properties: { eager_input_streaming: {} } } };
    const eager = { ...tool, eager_input_streaming: true };
    const body = { messages: [], tools: [tool] };
    expect(canonical('anthropic', { ...body, tools: [eager] })).toBe(canonical('anthropic', body));
    expect(canonical('openai', { ...body, tools: [eager] })).not.toBe(canonical('openai', body));
    const other = { ...body, tools: [{ ...tool, input_schema: { properties: {} } }] };
    expect(canonical('anthropic', other)).not.toBe(canonical('anthropic', body));
  });

  test.each([
    ['tools', { tools: [{ type: 'function', function: { name: 'a' } }] }],
    ['an image', ask([{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }])],
    ['a limit', { max_tokens: 10 }],
    ['a seed', { seed: 1 }],
    ['a format', { response_format: { type: 'json_object' } }],
    ["a vendor's cache control", { cache_control: { type: 'ephemeral' } }],
  ])('contains %s', (_, more) => {
    expect(canonical('openai', { ...ask('Hi'), ...more })).not.toBe(canonical('openai', ask('Hi')));
  });

  test('keeps integers apart that a number cannot hold', () => {
    const body = (seed: string) => canonicalBody('openai', `{"messages":[],"seed":${seed}}`);
    expect(body('9007199254740993')).not.toBe(body('9007199254740992'));
  });

  test('does not exist if a key is twice in an object: the upstream may read the other value', () => {
    const twice = '{"messages":[{"role":"user","content":"good","content":"evil"}]}';
    expect(canonicalBody('openai', twice)).toBeUndefined();
    expect(digestWith({ body_text: twice })).toBeUndefined();
    expect(canonicalBody('openai', '{"messages":[{"content":"a : \\" : b"}]}')).toBeDefined();
  });

  test('does not depend on the ids of tool calls, but on which result belongs to which call', () => {
    const turns = (a: string, b: string, first: string) => ({
      messages: [
        { role: 'assistant', tool_calls: [{ id: a, function: { name: 'f' } }, { id: b }] },
        { role: 'tool', tool_call_id: first, content: '1' },
      ],
    });
    const form = canonical('openai', turns('call_1', 'call_2', 'call_1'));
    expect(canonical('openai', turns('call_x', 'call_y', 'call_x'))).toBe(String(form));
    expect(canonical('openai', turns('call_x', 'call_y', 'call_y'))).not.toBe(String(form));
    const result = (tool_use_id: string, input: object) => ({
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: tool_use_id, input }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id }] },
      ],
    });
    const native = canonical('anthropic', result('toolu_1', { id: 'a' }));
    expect(canonical('anthropic', result('toolu_2', { id: 'a' }))).toBe(String(native));
    expect(canonical('anthropic', result('toolu_1', { id: 'b' }))).not.toBe(String(native));
    const item = (id: string, call_id: string) => ({
      input: [{ type: 'function_call', id, call_id, name: 'f' }],
    });
    expect(canonical('responses', item('fc_1', 'call_1'))).toBe(
      String(canonical('responses', item('fc_2', 'call_2'))),
    );
  });

  test('never takes a text of the client for the place of a call', () => {
    const told = { messages: [{ role: 'tool', tool_call_id: 'x', content: '@0' }] };
    const other = { messages: [{ role: 'tool', tool_call_id: 'x', content: 'x' }] };
    expect(canonical('openai', told)).not.toBe(String(canonical('openai', other)));
  });
});

describe('the digest', () => {
  test('P6: differs for each organization, key, model, mapping, protocol and header', () => {
    const others = [
      { scope: 'org_2' },
      { scope: '5/org_1/key_1' },
      { model_id: 'gpt-4o-mini' },
      { version: 'v2' },
      { kind: 'responses' as const },
      { headers: { 'anthropic-beta': 'x' } },
    ];
    const digests = [{}, ...others].map((change) => digestWith(change));
    expect(new Set(digests).size).toBe(digests.length);
  });

  test('no text in one part passes for another part', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, anyText, (scope, model_id, scope2, model_id2) => {
        fc.pre(scope !== scope2 || model_id !== model_id2);
        fc.pre([scope, scope2, model_id, model_id2].every((each) => each.isWellFormed()));
        const one = digestWith({ scope, model_id });
        expect(digestWith({ scope: scope2, model_id: model_id2 })).not.toBe(one);
      }),
    );
  });
});

describe('the sketch', () => {
  test('is the same for all bodies with the same canonical form', () => {
    fc.assert(
      fc.property(anyJson, anyText, (content, user) => {
        const body = JSON.parse(JSON.stringify(ask(content, { tools: [content] })));
        const again = { ...JSON.parse(shuffled(body)), user, stream: true };
        expect(sketchOf('openai', again, '')).toBe(sketchOf('openai', body, ''));
      }),
    );
  });

  test('follows the last text of each protocol', () => {
    const differ = (kind: CachedKind, one: object, other: object) =>
      sketchOf(kind, { ...one }, '') !== sketchOf(kind, { ...other }, '');
    const parts = (text: string) => ({ contents: [{ parts: [{ text: 'x' }, { text }] }] });
    expect(differ('openai', ask('a'), ask('b'))).toBe(true);
    expect(differ('anthropic', ask([{ text: 'a' }]), ask([{ text: 'b' }]))).toBe(true);
    expect(differ('responses', { input: 'a' }, { input: 'b' })).toBe(true);
    expect(differ('gemini', parts('a'), parts('b'))).toBe(true);
    expect(differ('embedding', { input: ['a'] }, { input: ['b'] })).toBe(true);
    expect(differ('rerank', { query: 'a' }, { query: 'b' })).toBe(true);
    expect(sketchOf('openai', ask('a'), 'key_1')).not.toBe(sketchOf('openai', ask('a'), 'key_2'));
  });
});
