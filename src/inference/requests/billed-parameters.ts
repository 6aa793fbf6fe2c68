import type { ChatModel } from '../../catalogue/catalogue.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { editItems } from '../../json/items.ts';
import { editMembers } from '../../json/members.ts';
import { isObject } from '../../json/object.ts';
import type { ClientProtocol } from '../../protocols/names.ts';
import { isWebSearch } from '../../upstreams/pass-through/web-search.ts';

type Body = Readonly<Record<string, unknown>>;

/** A parameter that can raise the bill. `isFree` is true for values that do not raise it. */
interface Billed {
  readonly isFree: (value: unknown) => boolean;
  readonly hint: string;
}

const LEAVE_OUT = 'Leave it out: Weir has no price for it.';
const oneOf =
  (...values: readonly string[]) =>
  (value: unknown) =>
    typeof value === 'string' && values.includes(value.toLowerCase());
const never = () => false;
const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;
const hasOnlyText = (value: unknown) =>
  Array.isArray(value) && value.every((each) => String(each).toLowerCase() === 'text');

const TIER_HINT = 'Leave it out, or send the standard tier. Weir has no price for other tiers.';
const HOSTED_HINT = 'Leave it out: Weir has no price for what the provider runs or stores.';
const MODEL_HINT = 'Leave it out, and name one model in `model`: each model has its own price.';

const refused = (hint = LEAVE_OUT): Billed => ({ isFree: never, hint });

/** Parameters of OpenAI that both of its chat protocols have. */
const OPENAI_PARAMETERS: Readonly<Record<string, Billed>> = {
  service_tier: { isFree: oneOf('auto', 'default'), hint: TIER_HINT },
  modalities: { isFree: hasOnlyText, hint: 'Send ["text"]. Speech has its own route.' },
  // Other providers with OpenAI's protocol use the next parameters for web searches, plug-ins and
  // replacement models.
  ...{ search_parameters: refused(HOSTED_HINT), plugins: refused(HOSTED_HINT) },
  ...{ enable_search: { isFree: (value) => value === false, hint: HOSTED_HINT } },
  ...{ models: refused(MODEL_HINT), route: refused(MODEL_HINT) },
};

/**
 * The top-level parameters that can raise the bill beyond the prices of the catalogue, by client
 * protocol. Every other parameter is charged by the tokens that the provider reports.
 */
export const BILLED_PARAMETERS: Record<ClientProtocol, Readonly<Record<string, Billed>>> = {
  openai: {
    ...OPENAI_PARAMETERS,
    web_search_options: refused('Leave it out, or use the tool web_search on /v1/responses.'),
    audio: refused('Leave it out. Speech has its own route, /v1/audio/speech.'),
  },
  responses: {
    ...OPENAI_PARAMETERS,
    background: { isFree: (value) => value === false, hint: 'Send stream: true instead.' },
    prompt: refused(
      'Send its text in instructions: Weir cannot limit the price of a stored prompt.',
    ),
    conversation: refused(
      'Use previous_response_id: Weir cannot limit the price of a stored conversation.',
    ),
    image: refused(),
  },
  anthropic: {
    service_tier: { isFree: oneOf('auto', 'standard_only'), hint: TIER_HINT },
    speed: { isFree: oneOf('standard'), hint: 'Leave it out, or send "standard".' },
    inference_geo: { isFree: oneOf('global'), hint: 'Leave it out, or send "global".' },
    container: refused(HOSTED_HINT),
    mcp_servers: { isFree: isEmptyList, hint: HOSTED_HINT },
    fallbacks: { isFree: isEmptyList, hint: MODEL_HINT },
    fallback_credit_token: refused(),
    billing_policy: refused(),
  },
  gemini: {
    serviceTier: {
      isFree: oneOf('standard', 'unspecified', 'service_tier_unspecified'),
      hint: TIER_HINT,
    },
    cachedContent: refused('Send the content itself: stored content has its own price.'),
  },
};

/** The members of Gemini's `generationConfig` that can raise the bill. */
export const BILLED_CONFIG: Readonly<Record<string, Billed>> = {
  responseModalities: {
    isFree: hasOnlyText,
    hint: 'Send ["TEXT"]. Images and speech have their own routes.',
  },
  routingConfig: refused(MODEL_HINT),
  modelSelectionConfig: refused(MODEL_HINT),
};

type NamedBilled = readonly [name: string, Billed];

/** Gemini's REST API takes `snake_case` and `camelCase` names. */
const inBothCases = ([name, billed]: NamedBilled): NamedBilled[] => {
  const snake_case = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return snake_case === name
    ? [[name, billed]]
    : [
        [name, billed],
        [snake_case, billed],
      ];
};

const PARAMETERS: Record<ClientProtocol, ReadonlyMap<string, Billed>> = {
  openai: new Map(Object.entries(BILLED_PARAMETERS.openai)),
  responses: new Map(Object.entries(BILLED_PARAMETERS.responses)),
  anthropic: new Map(Object.entries(BILLED_PARAMETERS.anthropic)),
  gemini: new Map(Object.entries(BILLED_PARAMETERS.gemini).flatMap(inBothCases)),
};
const CONFIG = new Map(Object.entries(BILLED_CONFIG).flatMap(inBothCases));

/**
 * The types of tools that cost nothing but tokens: the client runs them. A number at the end of the
 * type is its version. All other tools run at the provider, and have their own prices.
 */
export const FREE_TOOLS: Record<'openai' | 'responses' | 'anthropic', RegExp> = {
  openai: /^(function|custom)$/,
  responses: /^(function|custom|namespace|tool_search|local_shell|apply_patch|computer)$/,
  anthropic:
    /^(custom|(bash|text_editor|memory|computer|computer_toolset|browser_toolset)_\d+|tool_search_tool_(bm25|regex)(_\d+)?)$/,
};

/**
 * Throws WeirError (400) for the first parameter that can raise the bill beyond the prices of the
 * catalogue. The error names the parameter. So nothing that Weir forwards is charged too low.
 */
export function refuseUnpriced(protocol: ClientProtocol, body: Body, model: ChatModel): void {
  if (protocol === 'gemini') {
    refuseMembers(PARAMETERS.gemini, body, '');
    for (const key of ['generationConfig', 'generation_config']) {
      const config = body[key];
      if (isObject(config)) refuseMembers(CONFIG, config, `${key}.`);
    }
    refuseGeminiTools(body['tools']);
    return;
  }
  refuseMembers(PARAMETERS[protocol], body, '');
  const { tools } = body;
  if (Array.isArray(tools) && tools.length > 0) refuseTools(protocol, tools, 'tools', model);
}

/**
 * Removes web searches that a request of the Responses protocol offers but does not force, if the
 * catalogue has no price for a search by this model. Codex offers a search with every request.
 */
export function withoutUnpricedSearch<
  Call extends { protocol: ClientProtocol; body: Body; body_text: string; model: ChatModel },
>(call: Call): Call {
  const { protocol, body, model } = call;
  const { tools, tool_choice } = body;
  if (protocol !== 'responses' || model.price.web_search !== undefined) return call;
  if (!Array.isArray(tools) || tool_choice === 'required' || isObject(tool_choice)) return call;
  const isSearch = (tool: unknown) => isObject(tool) && isWebSearch(tool['type']);
  if (!tools.some(isSearch)) return call;
  const left = tools.filter((tool) => !isSearch(tool));
  const edits = {
    tools: (text: string) => editItems(text, (tool, at) => (isSearch(tools[at]) ? null : tool)),
  };
  return {
    ...call,
    body: { ...body, tools: left },
    body_text: editMembers(call.body_text, edits),
  };
}

function refuseMembers(billed: ReadonlyMap<string, Billed>, body: Body, prefix: string): void {
  for (const name in body) {
    const member = billed.get(name);
    if (!member) continue;
    const value = body[name];
    if (value === undefined || value === null || member.isFree(value)) continue;
    throw unpriced(prefix + name, member.hint);
  }
}

function refuseTools(
  protocol: 'openai' | 'responses' | 'anthropic',
  tools: readonly unknown[],
  prefix: string,
  model: ChatModel,
): void {
  for (const [at, tool] of tools.entries()) {
    if (!isObject(tool)) continue;
    const param = protocol === 'anthropic' ? `${prefix}.${at}` : `${prefix}[${at}]`;
    const { type, tools: inner } = tool;
    // A tool of Anthropic without a type is a function of the client.
    if (type === undefined || type === null) continue;
    if (Array.isArray(inner)) refuseTools(protocol, inner, `${param}.tools`, model);
    if (FREE_TOOLS[protocol].test(String(type)) || isLocalShell(tool)) continue;
    const isSearch = protocol !== 'openai' && isWebSearch(type);
    if (isSearch && model.price.web_search !== undefined && inner === undefined) continue;
    throw unpriced(`${param}.type`, hintFor(String(type)));
  }
}

/**
 * True for a shell tool that the client itself runs. A shell in the provider's container has a
 * price.
 */
function isLocalShell({ type, environment }: Body): boolean {
  return type === 'shell' && isObject(environment) && environment['type'] === 'local';
}

function hintFor(type: string): string {
  if (type.startsWith('web_search_preview')) return 'Use the tool web_search instead.';
  return 'Leave the tool out, or run it yourself as a function: Weir has no price for it.';
}

function refuseGeminiTools(tools: unknown): void {
  if (!Array.isArray(tools)) return;
  for (const [at, tool] of tools.entries()) {
    if (!isObject(tool)) continue;
    for (const [name, value] of Object.entries(tool)) {
      if (value === null || value === undefined) continue;
      if (name === 'functionDeclarations' || name === 'function_declarations') continue;
      throw unpriced(`tools[${at}].${name}`, hintFor(name));
    }
  }
}

function unpriced(param: string, hint: string): WeirError {
  const message = `${param}: this value has a price of its own, and is not offered.`;
  return new WeirError('invalid_request', message, { param, hint });
}
