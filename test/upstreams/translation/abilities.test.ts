/**
 * Tests that translated requests obey the abilities of each chat model. The judges are the
 * providers' packages of the AI SDK: they are asked for the same wish, for each model.
 */
import { describe, expect, test } from 'bun:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { sampleOf } from '../../../docs/protocol-samples.ts';
import { EFFORTS } from '../../../src/catalogue/abilities.ts';
import { builtInModels } from '../../../src/catalogue/built-in.ts';
import type { ModelDeclaration } from '../../../src/catalogue/schema.ts';
import { WeirError } from '../../../src/errors/weir-error.ts';
import { CLIENT_PROTOCOLS, type ClientProtocol } from '../../../src/protocols/names.ts';
import { FEATURES, type Feature } from '../../../src/upstreams/translation/features.ts';
import {
  type RequestProtocol,
  readRequest,
  translateCall,
} from '../../../src/upstreams/translation/translate.ts';
import { callOf } from '../upstream.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies of four protocols, read by hand.
type Json = Record<string, any>;

const MODELS = builtInModels().filter(({ category }) => category === 'chat');
const of = (owner: string) => MODELS.filter(({ owned_by }) => owned_by === owner);
const WISHES = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
type Wish = (typeof WISHES)[number];

/** What the AI SDK sends for a model and a wish. */
async function sentBySdk(model: ModelDeclaration, wish: Wish | undefined, more: Json = {}) {
  let body: Json = {};
  const fetch = Object.assign(
    async (_: unknown, init?: RequestInit) => {
      body = JSON.parse(String(init?.body));
      return new Response('{}', { status: 400 });
    },
    { preconnect: () => {} },
  );
  const options = { apiKey: 'key', fetch };
  const languageModel = {
    openai: () => createOpenAI(options).responses(model.id),
    anthropic: () => createAnthropic(options)(model.id),
    google: () => createGoogleGenerativeAI(options)(model.id),
  }[model.owned_by as 'openai' | 'anthropic' | 'google']();
  try {
    await languageModel.doGenerate({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
      ...(wish && { reasoning: wish }),
      ...more,
    } as Parameters<typeof languageModel.doGenerate>[0]);
  } catch {
    // The answer is an error, because only the request matters.
  }
  return body;
}

/** What Weir sends for a request of a client. */
function sentByWeir(
  model: ModelDeclaration,
  client: ClientProtocol,
  form: RequestProtocol,
  body: Json,
): Json {
  const call = callOf('http://localhost', body, {
    model_max_output_tokens: model.max_output_tokens ?? 16_384,
    model_abilities: model.abilities,
  });
  return translateCall(client, form, call).call.body;
}

const chat = (members: Json) => ({ messages: [{ role: 'user', content: 'Hello' }], ...members });
const byWish = (owner: string) =>
  of(owner).flatMap((model) => WISHES.map((wish) => ({ id: model.id, wish, model })));

test('every chat model says what it can do, and who says so', () => {
  for (const { id, abilities, capabilities } of MODELS) {
    expect({ id, reasons: capabilities?.includes('reasoning') }).toEqual({
      ...{ id, reasons: abilities?.reasoning.form !== 'none' },
    });
    expect(abilities?.provenance.source).toMatch(/@ai-sdk\/(?:openai|anthropic|google) \d/);
  }
});

describe('@ai-sdk/anthropic sends the same reasoning', () => {
  test.each(byWish('anthropic'))('$id: $wish', async ({ model, wish }) => {
    const sdk = await sentBySdk(model, wish);
    const weir = sentByWeir(model, 'openai', 'anthropic', chat({ reasoning_effort: wish }));
    // A model whose thinking cannot be switched off thinks with low effort, by default adaptively.
    const thinking = sdk['thinking'] ?? { type: 'adaptive' };
    expect(weir['thinking']?.type).toBe(thinking.type);
    if (thinking.type !== 'adaptive') return;
    const lacks = wish === 'xhigh' && sdk['output_config']?.effort === undefined;
    const least = wish === 'minimal' ? 'low' : undefined;
    expect(weir['output_config']?.effort).toBe(
      lacks ? 'high' : (sdk['output_config']?.effort ?? least),
    );
  });

  test.each(of('anthropic').map((model) => ({ id: model.id, model })))(
    '$id: a budget of tokens',
    async ({ model }) => {
      const body = {
        contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
        generationConfig: { thinkingConfig: { thinkingBudget: '4096' } },
      };
      const weir = sentByWeir(model, 'gemini', 'anthropic', body);
      const sdk = await sentBySdk(model, 'medium');
      expect(weir['thinking'].type).toBe(sdk['thinking'].type);
    },
  );
});

describe('@ai-sdk/anthropic leaves out what Weir refuses', () => {
  test.each(of('anthropic').map((model) => ({ id: model.id, model })))(
    '$id: sampling and forced tools',
    async ({ model }) => {
      const sampled = await sentBySdk(model, undefined, { temperature: 0.5 });
      const refused = refusalOf(() =>
        sentByWeir(model, 'openai', 'anthropic', chat({ temperature: 0.5 })),
      );
      expect(refused).toBe(sampled['temperature'] === undefined ? 'temperature' : undefined);
      const inputSchema = { type: 'object', properties: {} };
      const forced = await sentBySdk(model, undefined, {
        tools: [{ type: 'function', name: 'weather', inputSchema }],
        toolChoice: { type: 'required' },
      });
      const tools = [{ type: 'function', function: { name: 'weather', parameters: inputSchema } }];
      const refusedTools = refusalOf(() =>
        sentByWeir(model, 'openai', 'anthropic', chat({ tools, tool_choice: 'required' })),
      );
      const isForced = forced['tool_choice']?.type === 'any';
      expect(refusedTools).toBe(isForced ? undefined : 'tool_choice');
    },
  );
});

describe('@ai-sdk/google sends the same reasoning', () => {
  test.each(byWish('google'))('$id: $wish', async ({ model, wish }) => {
    const sdk = (await sentBySdk(model, wish))['generationConfig']?.thinkingConfig ?? {};
    const weir = sentByWeir(model, 'openai', 'gemini', chat({ reasoning_effort: wish }));
    const config = weir['generationConfig'].thinkingConfig;
    const { form, efforts = [] } = model.abilities?.reasoning ?? {};
    if (form === 'level') {
      // The package leaves out a level that the model lacks; Weir sends the nearest.
      const nearest = wish === 'xhigh' ? 'high' : efforts[0];
      expect(config.thinkingLevel).toBe(sdk.thinkingLevel ?? nearest);
      expect(config.thinkingBudget).toBeUndefined();
    } else if (wish === 'none') {
      // The smallest budget of gemini-2.5-pro is 128 (its package: `minBudget`).
      expect(config.thinkingBudget).toBe(model.id === 'gemini-2.5-pro' ? 128 : sdk.thinkingBudget);
    } else {
      expect(sdk.thinkingBudget).toBeGreaterThan(0);
      const most = model.id === 'gemini-2.5-pro' ? 32_768 : 24_576;
      expect(config.thinkingBudget).toBeLessThanOrEqual(most);
    }
  });
});

describe('@ai-sdk/openai sends the same effort', () => {
  const models = byWish('openai').filter(({ model }) => model.abilities?.reasoning.form !== 'none');
  test.each(models)('$id: $wish', async ({ model, wish }) => {
    const sdk = await sentBySdk(model, wish);
    const weir = sentByWeir(model, 'responses', 'openai', {
      ...{ input: 'Hello', reasoning: { effort: wish } },
    });
    // The package does not know which efforts the models o3 and o4-mini lack.
    const efforts = model.abilities?.reasoning.efforts ?? [];
    if (model.id.startsWith('o')) expect(efforts).toContain(weir['reasoning_effort']);
    else expect(weir['reasoning_effort']).toBe(sdk['reasoning']?.effort);
  });
});

/** The parameter that Weir refuses; undefined if it refuses nothing. */
function refusalOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (!(error instanceof WeirError)) throw error;
    expect(error.entry.status).toBe(400);
    return String(error.details.param);
  }
}

const FORMS: Record<string, RequestProtocol[]> = {
  ...{ openai: ['openai', 'responses'], anthropic: ['anthropic'], google: ['gemini'] },
};
const PAIRS = MODELS.flatMap((model) =>
  (FORMS[model.owned_by] ?? []).flatMap((form) =>
    CLIENT_PROTOCOLS.filter((client) => client !== form).map((client) => ({
      ...{ id: model.id, form, client, model },
    })),
  ),
);

/** What a written request must not have, by the model's data. */
function isAllowed(body: Json, form: RequestProtocol, { abilities }: ModelDeclaration): boolean {
  if (!abilities) return false;
  const { reasoning, sampling, forced_tools, prefill } = abilities;
  const { uses } = readRequest(form, body);
  const has = (...features: Feature[]) => uses.some(({ feature }) => features.includes(feature));
  const reasons = has('reasoning_effort', 'reasoning_budget');
  const allows = (when: string) => when === 'always' || (when === 'without_reasoning' && !reasons);
  if (has('reasoning_off') && !reasoning.can_be_off) return false;
  if (reasons && reasoning.form === 'none') return false;
  if (has('reasoning_budget') && reasoning.form !== 'budget') return false;
  const effort =
    body['reasoning_effort'] ??
    body['reasoning']?.effort ??
    body['output_config']?.effort ??
    body['generationConfig']?.thinkingConfig?.thinkingLevel;
  if (effort && effort !== 'none' && !reasoning.efforts?.includes(effort)) return false;
  if (has('temperature', 'temperature_above_one', 'top_p', 'top_k') && !allows(sampling))
    return false;
  if (has('forced_tool') && !allows(forced_tools)) return false;
  return prefill || !has('prefill');
}

describe('every model, protocol and parameter: obeyed, or refused by its name', () => {
  test.each(PAIRS)('$client on $id ($form)', ({ client, form, model }) => {
    for (const feature of Object.keys(FEATURES) as Feature[]) {
      const sample = sampleOf(client, feature);
      if (!sample) continue;
      let sent: Json = {};
      const refused = refusalOf(() => {
        sent = sentByWeir(model, client, form, sample);
      });
      if (refused === undefined) {
        expect({ feature, sent, ok: isAllowed(sent, form, model) }).toEqual({
          ...{ feature, sent, ok: true },
        });
      } else {
        const [first = ''] = refused.split(/[.[]/);
        expect({ feature, refused, names: Object.keys(sample) }).toEqual({
          ...{ feature, refused, names: expect.arrayContaining([first]) },
        });
      }
    }
  });
});

describe('an effort that is no word of its vendor is refused by name', () => {
  const bodies: [ClientProtocol, string, (effort: unknown) => Json][] = [
    ['openai', 'reasoning_effort', (effort) => chat({ reasoning_effort: effort })],
    ['responses', 'reasoning.effort', (effort) => ({ input: 'Hello', reasoning: { effort } })],
    ['anthropic', 'output_config.effort', (effort) => chat({ output_config: { effort } })],
    [
      'gemini',
      'generationConfig.thinkingConfig.thinkingLevel',
      (thinkingLevel) => ({
        contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
        generationConfig: { thinkingConfig: { thinkingLevel } },
      }),
    ],
  ];
  test.each(bodies)('%s', (client, param, write) => {
    for (const effort of ['zzz', 'Low ', ' ', 7]) {
      expect(refusalOf(() => readRequest(client, write(effort)))).toBe(param);
    }
    // Google's SDK writes levels in capitals (@google/genai, ThinkingLevel).
    if (client !== 'gemini') {
      for (const effort of ['Low', '', 'HIGH']) {
        expect(refusalOf(() => readRequest(client, write(effort)))).toBe(param);
      }
    }
    const words = client === 'gemini' ? EFFORTS.slice(0, 4) : EFFORTS.slice(1);
    for (const effort of words) {
      expect(refusalOf(() => readRequest(client, write(effort)))).toBeUndefined();
    }
  });
});

test('a model that does not reason is not asked to', () => {
  const model = MODELS.find(({ id }) => id === 'gpt-4o-mini');
  if (!model) throw new Error('no gpt-4o-mini');
  const thinking = { type: 'enabled', budget_tokens: 2_048 };
  const ask = (members: Json) =>
    sentByWeir(model, 'anthropic', 'openai', chat({ max_tokens: 4_096, ...members }));
  expect(refusalOf(() => ask({ thinking }))).toBe('thinking.budget_tokens');
  // Anthropic's effort is also about text and tools, and adaptive thinking may be none.
  for (const hint of [{ thinking: { type: 'adaptive' } }, { output_config: { effort: 'high' } }]) {
    expect(ask(hint)).not.toHaveProperty('reasoning_effort');
  }
});
