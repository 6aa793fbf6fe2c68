/**
 * Walks through every member of the vendors' request types. A member either cannot raise the bill
 * beyond the tokens that the vendor reports, or Weir prices it, or Weir refuses it by name. If a
 * newer SDK has a new member, the test fails until the member is in one of these lists.
 */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { builtInModels } from '../../../src/catalogue/built-in.ts';
import { Catalogue, type ChatModel } from '../../../src/catalogue/catalogue.ts';
import { WeirError } from '../../../src/errors/weir-error.ts';
import { Budget } from '../../../src/inference/budget/budget.ts';
import {
  BILLED_CONFIG,
  BILLED_PARAMETERS,
  FREE_TOOLS,
  refuseUnpriced,
} from '../../../src/inference/requests/billed-parameters.ts';
import type { ClientProtocol } from '../../../src/protocols/names.ts';
import {
  DEFAULT_WEB_SEARCHES,
  isWebSearch,
} from '../../../src/upstreams/pass-through/web-search.ts';

const catalogue = new Catalogue(builtInModels());
const chatModel = (id: string) => catalogue.find(id) as ChatModel;
const MODELS: Record<ClientProtocol, ChatModel> = {
  openai: chatModel('gpt-5.4'),
  responses: chatModel('gpt-5.4'),
  anthropic: chatModel('claude-opus-4-8'),
  gemini: chatModel('gemini-3.5-flash'),
};

const OPENAI = 'openai/resources';
const ANTHROPIC = '@anthropic-ai/sdk/resources';
const GOOGLE = '@google/genai/dist/genai.d.ts';

const text = (file: string) => readFileSync(`node_modules/${file}`, 'utf8');

/** Returns the names of the members of an interface of a vendor's package. */
function membersOf(file: string, name: string): string[] {
  const source = text(file);
  const head = new RegExp(`interface ${name} (extends \\S+ )?\\{`).exec(source);
  if (!head) throw new Error(`${file} has no ${name}`);
  const block = source.slice(head.index, source.indexOf('\n}', head.index));
  return [...block.matchAll(/^ {4}(\w+)\??:/gm)].map(([, member]) => String(member));
}

/** Returns the values of `type` in the members of a union of a vendor's package. */
function typesOf(file: string, union: string): string[] {
  const source = text(file);
  const [, names = ''] = new RegExp(`export type ${union} = ([^;]+);`).exec(source) ?? [];
  return names.split('|').flatMap((each) => {
    const name = each.trim().replace(/^Tool\./, '');
    const head = new RegExp(`interface ${name} \\{`).exec(source);
    if (!head) throw new Error(`${file} has no ${name}`);
    const indent = / *$/.exec(source.slice(0, head.index).replace(/export $/, ''))?.[0] ?? '';
    const block = source.slice(head.index, source.indexOf(`\n${indent}}`, head.index));
    const type = new RegExp(`^${indent} {4}type\\??: ([^;]+);`, 'm').exec(block)?.[1] ?? '';
    return [...type.matchAll(/'(\w+)'/g)].map(([, value]) => String(value));
  });
}

/** Members that the prices of tokens cover. The vendor reports their tokens. */
const BY_TOKENS: Record<ClientProtocol, string> = {
  openai:
    'messages model frequency_penalty function_call functions logit_bias logprobs ' +
    'max_completion_tokens max_tokens metadata moderation n parallel_tool_calls prediction ' +
    'presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention ' +
    'reasoning_effort response_format safety_identifier seed stop store stream stream_options ' +
    'temperature tool_choice tools top_logprobs top_p user verbosity',
  responses:
    'access_programs context_management include input instructions max_output_tokens ' +
    'max_tool_calls metadata model moderation parallel_tool_calls previous_response_id ' +
    'prompt_cache_key prompt_cache_options prompt_cache_retention reasoning safety_identifier ' +
    'store stream stream_options temperature text tool_choice tools top_logprobs top_p ' +
    'truncation user',
  anthropic:
    'max_tokens messages model cache_control diagnostics metadata output_config output_format ' +
    'stop_sequences stream system temperature thinking thread tool_choice tools top_k top_p ' +
    'user_profile_id workspace_id context_management compaction betas',
  gemini:
    'contents systemInstruction tools toolConfig generationConfig safetySettings labels store ' +
    'temperature topP topK candidateCount maxOutputTokens stopSequences responseLogprobs ' +
    'logprobs presencePenalty frequencyPenalty seed responseMimeType responseSchema ' +
    'responseJsonSchema mediaResolution speechConfig audioTimestamp thinkingConfig imageConfig ' +
    'audioTranscriptionConfig automaticFunctionCalling httpOptions abortSignal ' +
    'enableEnhancedCivicAnswers modelArmorConfig continuationToken automaticContinuation ' +
    'generationOutputConfig enableAffectiveDialog responseFormat translationConfig',
};

const DECLARED: Record<ClientProtocol, string[]> = {
  openai: membersOf(
    `${OPENAI}/chat/completions/completions.d.ts`,
    'ChatCompletionCreateParamsBase',
  ),
  responses: membersOf(`${OPENAI}/responses/responses.d.ts`, 'ResponseCreateParamsBase'),
  anthropic: [
    ...membersOf(`${ANTHROPIC}/messages/messages.d.ts`, 'MessageCreateParamsBase'),
    ...membersOf(`${ANTHROPIC}/beta/messages/messages.d.ts`, 'MessageCreateParamsBase'),
  ],
  gemini: [...membersOf(GOOGLE, 'GenerateContentConfig'), ...membersOf(GOOGLE, 'GenerationConfig')],
};

describe.each(Object.entries(DECLARED) as [ClientProtocol, string[]][])(
  'every member of the requests of %s',
  (protocol, members) => {
    const byTokens = new Set(BY_TOKENS[protocol].split(' '));
    const billed = {
      ...BILLED_PARAMETERS[protocol],
      ...(protocol === 'gemini' ? BILLED_CONFIG : {}),
    };

    test('is charged by tokens, or refused by name', () => {
      expect(members.length).toBeGreaterThan(15);
      const unknown = members.filter((name) => !byTokens.has(name) && !(name in billed));
      expect(unknown).toEqual([]);
      for (const name of byTokens)
        expect({ name, isBilled: name in billed }).toMatchObject({ isBilled: false });
    });

    test.each(Object.keys(billed))('%s', (name) => {
      const isConfig = protocol === 'gemini' && name in BILLED_CONFIG;
      const value = name === 'background' || name === 'enable_search' ? true : 'zzz';
      const body = isConfig ? { generationConfig: { [name]: value } } : { [name]: value };
      const error = refusal(protocol, body);
      expect(error?.details.param).toBe(isConfig ? `generationConfig.${name}` : name);
      expect(error?.details.hint).toBeString();
      expect(refusal(protocol, { [name]: null })).toBeUndefined();
    });
  },
);

function refusal(protocol: ClientProtocol, body: object, model = MODELS[protocol]) {
  try {
    refuseUnpriced(protocol, body as Record<string, unknown>, model);
    return undefined;
  } catch (error) {
    if (error instanceof WeirError && error.id === 'invalid_request') return error;
    throw error;
  }
}

/** Tools that Weir prices: the vendor reports how often they were used. */
const isPriced = (type: string) => isWebSearch(type);

const TOOLS: [ClientProtocol & keyof typeof FREE_TOOLS, string[]][] = [
  ['responses', typesOf(`${OPENAI}/responses/responses.d.ts`, 'Tool')],
  ['anthropic', typesOf(`${ANTHROPIC}/messages/messages.d.ts`, 'ToolUnion')],
  ['anthropic', typesOf(`${ANTHROPIC}/beta/messages/messages.d.ts`, 'BetaToolUnion')],
];

/** The tools that run at the vendor and that Weir does not price. */
const HOSTED =
  /^(file_search|computer_use_preview|web_search_preview\w*|mcp|mcp_toolset|code_interpreter|programmatic_tool_calling|image_generation|shell|code_execution_\d+|web_fetch_\d+|advisor_\d+)$/;

describe.each(TOOLS)('every tool of %s', (protocol, types) => {
  test('was found', () => expect(types.length).toBeGreaterThan(14));

  test.each([...new Set(types)])('%s runs at the client, has a price, or is refused', (type) => {
    const free = FREE_TOOLS[protocol].test(type);
    expect([free, isPriced(type), HOSTED.test(type)].filter(Boolean)).toEqual([true]);
    const error = refusal(protocol, { tools: [{ type: 'custom', name: 'a' }, { type }] });
    const param = protocol === 'anthropic' ? 'tools.1.type' : 'tools[1].type';
    expect(error?.details.param).toBe(HOSTED.test(type) ? param : undefined);
  });
});

describe('tools', () => {
  test('every hosted tool of Gemini is refused by its name, in both spellings', () => {
    const tools = membersOf(GOOGLE, 'Tool').filter((name) => name !== 'functionDeclarations');
    expect(tools.length).toBeGreaterThan(9);
    for (const name of tools) {
      const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      for (const written of [name, snake]) {
        const error = refusal('gemini', { tools: [{ [written]: {} }] });
        expect(error?.details.param).toBe(`tools[0].${written}`);
      }
      expect(refusal('gemini', { tools: [{ [name]: null, functionDeclarations: [] }] })).toBe(
        undefined,
      );
    }
  });

  test('a tool inside a namespace, and a shell that is not local, are refused', () => {
    const inner = [{ type: 'function' }, { type: 'code_interpreter' }];
    const nested = refusal('responses', {
      tools: [{ type: 'namespace', name: 'n', tools: inner }],
    });
    expect(nested?.details.param).toBe('tools[0].tools[1].type');
    const shell = (environment?: object) =>
      refusal('responses', { tools: [{ type: 'shell', environment }] });
    expect(shell({ type: 'local' })).toBeUndefined();
    expect(shell({ type: 'container_auto' })?.details.param).toBe('tools[0].type');
    expect(shell()?.details.param).toBe('tools[0].type');
  });

  test('web search is refused if the model has no price for it', () => {
    const tools = [{ type: 'web_search' }];
    expect(refusal('responses', { tools }, chatModel('gpt-4.1-nano'))).toBeDefined();
    expect(refusal('openai', { tools })).toBeDefined();
  });

  test('values that change nothing are accepted', () => {
    for (const service_tier of ['auto', 'default', null]) {
      expect(refusal('openai', { service_tier })).toBeUndefined();
      expect(refusal('responses', { service_tier, tools: [], background: false })).toBeUndefined();
    }
    const same = { service_tier: 'standard_only', speed: 'standard', inference_geo: 'global' };
    expect(refusal('anthropic', { ...same, mcp_servers: [], tools: [], fallbacks: [] })).toBe(
      undefined,
    );
    const config = { responseModalities: ['TEXT'] };
    expect(refusal('gemini', { serviceTier: 'STANDARD', generationConfig: config })).toBe(
      undefined,
    );
  });

  test.each([
    ['openai', { service_tier: 'priority' }, 'service_tier'],
    ['openai', { service_tier: 'flex' }, 'service_tier'],
    ['responses', { service_tier: 'fast' }, 'service_tier'],
    ['openai', { modalities: ['text', 'audio'] }, 'modalities'],
    ['anthropic', { speed: 'fast' }, 'speed'],
    ['anthropic', { inference_geo: 'us' }, 'inference_geo'],
    ['anthropic', { mcp_servers: [{ url: 'https://…' }] }, 'mcp_servers'],
    ['gemini', { service_tier: 'priority' }, 'service_tier'],
    [
      'gemini',
      { generation_config: { response_modalities: ['IMAGE'] } },
      'generation_config.response_modalities',
    ],
  ] as [ClientProtocol, object, string][])('%s refuses %j', (protocol, body, param) => {
    expect(refusal(protocol, body)?.details.param).toBe(param);
  });
});

describe('P17: the reservation covers the price of the web searches that a request allows', () => {
  const reserved = (body: Record<string, unknown>) =>
    new Budget({
      ...{ protocol: 'anthropic', model: MODELS.anthropic, headers: {} },
      ...{ body, body_text: JSON.stringify(body) },
    }).amountToReserve(false);
  const search = (more: object = {}) => ({ tools: [{ type: 'web_search_20250305', ...more }] });
  const CENT = 10_000_000;

  test.each([
    [search({ max_uses: 3 }), 3],
    [search(), DEFAULT_WEB_SEARCHES],
    [search({ max_uses: -1 }), DEFAULT_WEB_SEARCHES],
    [{ ...search(), max_tool_calls: 7 }, 7],
    [{ tools: [{ type: 'bash_20250124' }] }, 0],
  ])('%j', (more, searches) => {
    const tools = JSON.parse(JSON.stringify(more).replace('web_search', 'web_s3arch')) as object;
    const body = { max_tokens: 10, messages: [] };
    expect(reserved({ ...body, ...more }) - reserved({ ...body, ...tools })).toBe(searches * CENT);
  });
});
