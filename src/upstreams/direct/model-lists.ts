import { isObject } from '../../json/object.ts';
import type { ChannelProtocol } from '../../protocols/names.ts';
import { type CallSignal, RetryableUpstreamError, type TransportName } from '../contract.ts';
import { redact } from '../transport/credentials.ts';
import { joinUrl, requestWhole } from '../transport/exchange.ts';
import { ProviderRefusal, refusalOf } from './provider-refusal.ts';

/** An account at a provider: where it is, and its key. No error shows the key. */
export interface ProviderAccount {
  readonly protocol: ChannelProtocol;
  readonly base_url: string;
  readonly api_key: string;
  readonly transport: TransportName;
  /** The time limit of each request, ms; 10 s by default. */
  readonly timeout_ms?: number;
}

const TIMEOUT_MS = 10_000;
/** The largest page of a list. OpenRouter's list of all models has less than a megabyte. */
const MAX_LIST_BYTES = 8 * 1024 * 1024;
const PAGE_SIZE = 1_000;
const MAX_PAGES = 10;
const MAX_IDS = 10_000;
/** The name of a model at a provider, without characters that break lines or texts. */
const MODEL_ID = /^[^\p{Cc}\p{Cs}]{1,200}$/u;
const NEVER: CallSignal = { aborted: false, reason: undefined };

/** How a provider lists its models. */
interface ListForm {
  readonly path: string;
  readonly headers: (api_key: string) => Record<string, string>;
  /** Returns the ids of a page; undefined if the body is no list. */
  readonly idsIn: (body: unknown) => unknown[] | undefined;
  /** Returns the query of the next page; undefined after the last one. */
  readonly nextIn: (body: Record<string, unknown>) => string | undefined;
}

/** OpenAI docs: List models. Compatible servers may answer a bare list, or a member `models`. */
const OPENAI: ListForm = {
  path: '/models',
  headers: (api_key) => ({ authorization: `Bearer ${api_key}` }),
  idsIn(body) {
    const list = Array.isArray(body) ? body : isObject(body) && (body['data'] ?? body['models']);
    return Array.isArray(list) ? list.map((each) => member(each, 'id')) : undefined;
  },
  nextIn: () => undefined,
};

/** Anthropic docs: List Models. */
const ANTHROPIC: ListForm = {
  path: `/v1/models?limit=${PAGE_SIZE}`,
  headers: (api_key) => ({ 'x-api-key': api_key, 'anthropic-version': '2023-06-01' }),
  idsIn: OPENAI.idsIn,
  nextIn: ({ has_more, last_id }) =>
    has_more === true && typeof last_id === 'string'
      ? `&after_id=${encodeURIComponent(last_id)}`
      : undefined,
};

/** Gemini API docs: models.list. Names begin with `models/`. */
const GEMINI: ListForm = {
  path: `/models?pageSize=${PAGE_SIZE}`,
  headers: (api_key) => ({ 'x-goog-api-key': api_key }),
  idsIn(body) {
    const list = isObject(body) ? body['models'] : undefined;
    if (!Array.isArray(list)) return undefined;
    return list.map((each) => String(member(each, 'name')).replace(/^models\//, ''));
  },
  nextIn: ({ nextPageToken: token }) =>
    typeof token === 'string' && token !== ''
      ? `&pageToken=${encodeURIComponent(token)}`
      : undefined,
};

const LISTS: Partial<Record<ChannelProtocol, ListForm>> = {
  openai: OPENAI,
  'openai-images': OPENAI,
  anthropic: ANTHROPIC,
  gemini: GEMINI,
  veo: GEMINI,
};

/**
 * Returns the ids of the models that a provider lists for an account, without duplicates; undefined if
 * the provider answers that it has no list. Throws ProviderRefusal.
 */
export async function listProviderModels(
  account: ProviderAccount,
): Promise<readonly string[] | undefined> {
  const form = LISTS[account.protocol];
  if (!form) return undefined;
  const ids = new Set<string>();
  let query: string | undefined = '';
  for (let page = 0; query !== undefined && page < MAX_PAGES && ids.size < MAX_IDS; page += 1) {
    const body = await readPage(account, form, query);
    if (body === undefined) return undefined;
    const listed = form.idsIn(body);
    if (!listed) throw new ProviderRefusal('broken', 'The answer is not a list of models.', 200);
    for (const id of listed) {
      if (typeof id === 'string' && MODEL_ID.test(id) && ids.size < MAX_IDS) ids.add(id);
    }
    query = isObject(body) ? form.nextIn(body) : undefined;
  }
  return [...ids];
}

/** Statuses of an address that has no list of models. */
const NO_LIST = [404, 405, 410, 501];

function readPage(account: ProviderAccount, form: ListForm, query: string): Promise<unknown> {
  const { base_url, api_key } = account;
  const url = joinUrl(base_url, form.path) + query;
  return send(
    account,
    { method: 'GET', url, headers: form.headers(api_key) },
    (status, headers, text) => {
      if (NO_LIST.includes(status)) return undefined;
      if (status !== 200) throw refusalOf(account.protocol, status, headers, text);
      try {
        // A provider that echoes the key must not bring it into the list of unknown models.
        return JSON.parse(redact(text, api_key));
      } catch {
        throw new ProviderRefusal('broken', 'The answer is not JSON.', status);
      }
    },
  );
}

/** The chat route of a protocol, for probes. */
const CHAT_PATHS: Partial<Record<ChannelProtocol, string>> = {
  openai: '/chat/completions',
  anthropic: '/v1/messages',
};

/**
 * Sends a chat request that no provider accepts, because it has no messages: most servers check the
 * key first, so a wrong key is refused, and nothing is charged. Some servers list their models
 * without a key, e.g. OpenRouter, so a list alone proves nothing there. Returns false if the server has
 * no such route, and undefined if the protocol has none. Throws ProviderRefusal if the key is refused,
 * or if the provider does not work.
 */
export async function probeChatKey(
  account: ProviderAccount,
  model: string,
): Promise<boolean | undefined> {
  const { base_url, api_key, protocol } = account;
  const [form, path] = [LISTS[protocol], CHAT_PATHS[protocol]];
  if (!form || path === undefined) return undefined;
  const content = JSON.stringify({ model, messages: [], max_tokens: 1 });
  const request = {
    method: 'POST' as const,
    url: joinUrl(base_url, path),
    headers: form.headers(api_key),
    body: { content, content_type: 'application/json' },
  };
  return send(account, request, (status, headers, text) => {
    if (status < 300) return true;
    const refusal = refusalOf(protocol, status, headers, text);
    if (refusal.fault === 'account' || status >= 500 || status < 400) throw refusal;
    // A model API that does not know the model answers 404, too, and names the model.
    return !NO_LIST.includes(status) || text.includes(model);
  });
}

interface Sent {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body?: { readonly content: string; readonly content_type: string };
}

/** Sends a request and returns what `parse` makes of the answer. Throws ProviderRefusal. */
async function send<Result>(
  { api_key, transport, timeout_ms = TIMEOUT_MS }: ProviderAccount,
  request: Sent,
  parse: (status: number, headers: Pick<Headers, 'get'>, text: string) => Result,
): Promise<Result> {
  const call = { target: { timeout_ms, transport, api_key }, signal: NEVER };
  try {
    return await requestWhole(
      call,
      { ...request, pool: 'calls', may_repeat: true },
      (head, text) => parse(head.status, head.headers, text),
      MAX_LIST_BYTES,
    );
  } catch (error) {
    if (!(error instanceof RetryableUpstreamError)) throw error;
    throw new ProviderRefusal(error.fault, error.message, error.status, error.failure);
  }
}

function member(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}
