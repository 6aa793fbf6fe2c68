/** Tests that every cell of `docs/protocols.md` is true, streamed or not. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sampleOf } from '../../../docs/protocol-samples.ts';
import { cellOf, protocolsPage } from '../../../docs/protocols-page.ts';
import { WeirError } from '../../../src/errors/weir-error.ts';
import { type ChatProtocol, CLIENT_PROTOCOLS } from '../../../src/protocols/names.ts';
import { protocolFor } from '../../../src/upstreams/chat/protocols.ts';
import { FEATURES, type Feature } from '../../../src/upstreams/translation/features.ts';
import {
  type RequestProtocol,
  readRequest,
  translateCall,
} from '../../../src/upstreams/translation/translate.ts';
import { callOf, startUpstream, type Upstream } from '../upstream.ts';

const UPSTREAMS: RequestProtocol[] = ['openai', 'responses', 'anthropic', 'gemini'];
const PROTOCOL_OF: Record<RequestProtocol, ChatProtocol> = {
  ...{ openai: 'openai', responses: 'openai-responses', anthropic: 'anthropic', gemini: 'gemini' },
};
const CELLS = CLIENT_PROTOCOLS.flatMap((client) =>
  UPSTREAMS.flatMap((upstream) =>
    (Object.keys(FEATURES) as Feature[]).map((feature) => ({
      ...{ client, upstream, feature },
      cell: cellOf(client, upstream, feature),
    })),
  ),
);

/**
 * Features that a protocol may express as another one. For example, an effort may become a token
 * budget, or the reverse.
 */
const EQUIVALENT_FEATURES: Partial<Record<Feature, readonly Feature[]>> = {
  reasoning_effort: ['reasoning_budget'],
  reasoning_budget: ['reasoning_effort'],
};

let upstream: Upstream;
beforeAll(() => {
  upstream = startUpstream();
});
afterAll(() => upstream.stop());

test('docs/protocols.md is up to date: after a change, run "bun run protocols"', () => {
  const page = readFileSync(join(import.meta.dir, '../../../docs/protocols.md'), 'utf8');
  expect(page).toBe(protocolsPage());
});

test('each feature can be used by some client', () => {
  const usable = new Set(CELLS.filter(({ cell }) => cell !== '–').map(({ feature }) => feature));
  expect([...usable].sort()).toEqual((Object.keys(FEATURES) as Feature[]).sort());
});

/**
 * Features that have no member of their own in a protocol, and how the test checks that they are
 * kept.
 */
const KEPT_CHECKS: Partial<
  Record<Feature, (sent: string, call: { parallel_calls?: boolean }) => boolean>
> = {
  failed_results: (sent) => /"Error: No such city\."|"error":"No such city\."/.test(sent),
  // The reader of the answer returns only one call (streams.test.ts).
  serial_calls: (_, request) => request.parallel_calls === false,
  seed: (sent) => !sent.includes('seed'),
  json_mode: (sent) => /"system":"[^"]*JSON object/.test(sent),
  // Gemini has a mode for all tools together (@google/genai, FunctionCallingConfigMode).
  strict_tools: (sent) => sent.includes('"mode":"VALIDATED"') && !sent.includes('strict'),
};

describe.each([false, true])('streamed: %p', (stream) => {
  const translated = CELLS.filter(({ cell }) => cell !== 'as is' && cell !== '–');
  test.each(translated)('$client on $upstream: $feature: $cell', (each) => {
    const { client, upstream: written, feature, cell } = each;
    const body = { ...sampleOf(client, feature), model: 'gpt-test', ...(stream ? { stream } : {}) };
    const call = callOf(upstream.url, body, { model_max_output_tokens: 64_000 });
    // The sample must use the feature.
    expect(readRequest(client, body).uses.map((use) => use.feature)).toContain(feature);
    if (cell.startsWith('400')) {
      let refusal: unknown;
      try {
        translateCall(client, written, call);
      } catch (error) {
        refusal = error;
      }
      expect(refusal).toBeInstanceOf(WeirError);
      expect((refusal as WeirError).entry.status).toBe(400);
      expect(cell).toBe(`400 \`${(refusal as WeirError).details.param}\``);
      return;
    }
    const { call: sent, request } = translateCall(client, written, call);
    if (cell !== 'yes') {
      expect(KEPT_CHECKS[feature]?.(sent.body_text, request)).toBe(true);
      return;
    }
    const found = readRequest(written, sent.body).uses.map((use) => use.feature);
    const accepted = [feature, ...(EQUIVALENT_FEATURES[feature] ?? [])];
    expect({ found, sent: sent.body, has: accepted.some((each) => found.includes(each)) }).toEqual({
      ...{ found, sent: sent.body, has: true },
    });
    expect(found).not.toContain('other');
  });
});

const ANSWERS: Record<RequestProtocol, object> = {
  openai: { id: 'x', model: 'physical-9', choices: [{ message: {} }], usage: {} },
  responses: { id: 'x', model: 'physical-9', output: [], usage: {} },
  anthropic: { id: 'x', model: 'physical-9', content: [], usage: {} },
  gemini: { candidates: [], usageMetadata: {} },
};

/** Members with unusual spaces, numbers, escapes and names. */
const UNUSUAL_MEMBERS =
  ' "zz_unknown" : {"deep":[1.0, 1e2, 12345678901234567890, "\\u00e9\\/", null]},\t"a": [ ] ';

describe('a passed-through request', () => {
  const passed = CELLS.filter(({ cell }) => cell === 'as is' && cell).filter(
    ({ client, feature }) => sampleOf(client, feature),
  );
  test.each(passed)('$client on $upstream, byte by byte: $feature', async (each) => {
    const { client, upstream: written, feature } = each;
    const sample = JSON.stringify({ ...sampleOf(client, feature) });
    const text =
      client === 'gemini'
        ? `{${sample.slice(1, -1)},${UNUSUAL_MEMBERS}}`
        : `{"model":"gpt-test",${sample.slice(1, -1)},${UNUSUAL_MEMBERS}}`;
    upstream.answer = () => Response.json(ANSWERS[written]);
    upstream.asked.length = 0;
    const call = { ...callOf(upstream.url, JSON.parse(text)), body_text: text };
    await protocolFor(client, PROTOCOL_OF[written]).complete(call);
    // Weir stores responses itself, so it adds `store: false`. It also bounds web searches.
    const sent = upstream.asked[0]?.text
      .replace(/,"store":false/, '')
      .replace(/,"max_(uses|tool_calls)":10/, '');
    expect(sent).toBe(text.replace('"gpt-test"', '"physical-9"'));
  });
});
