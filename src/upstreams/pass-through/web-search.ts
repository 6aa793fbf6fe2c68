import { editItems } from '../../json/items.ts';
import { type Edit, editMembers } from '../../json/members.ts';
import { isObject } from '../../json/object.ts';

/** If a request names no bound, an answer may have this many web searches. */
export const DEFAULT_WEB_SEARCHES = 10;

/** The tools of a provider that search the web: `web_search` of OpenAI, `web_search_20250305` of Anthropic. */
const WEB_SEARCH = /^web_search(_\d[\d_]*)?$/;

/** True if the type of a tool is a web search that the provider runs. */
export function isWebSearch(type: unknown): boolean {
  return typeof type === 'string' && WEB_SEARCH.test(type);
}

type Body = Readonly<Record<string, unknown>>;

function searchTools(body: Body): readonly Body[] {
  const { tools } = body;
  if (!Array.isArray(tools)) return [];
  return tools.filter((tool) => isObject(tool) && isWebSearch(tool['type']));
}

/**
 * Returns the most web searches that the provider may run for a request, after Weir added the
 * default bound. In Anthropic's protocol, each search tool has the bound `max_uses`. In the
 * Responses protocol, the request has `max_tool_calls`.
 */
export function maxWebSearches(body: Body): number {
  const bound = countOr(body['max_tool_calls'], DEFAULT_WEB_SEARCHES);
  return searchTools(body).reduce((sum, { max_uses }) => sum + countOr(max_uses, bound), 0);
}

/**
 * Returns edits that limit the web searches of an Anthropic request whose search tools have no
 * limit.
 */
export function messageSearchLimits(body: Body): Record<string, Edit> {
  const { tools } = body;
  if (!Array.isArray(tools)) return {};
  if (searchTools(body).every(({ max_uses }) => isCount(max_uses))) return {};
  const limits = { max_uses: String(DEFAULT_WEB_SEARCHES) };
  const isUnlimited = (tool: unknown) =>
    isObject(tool) && isWebSearch(tool['type']) && !isCount(tool['max_uses']);
  return {
    tools: (text) =>
      editItems(text, (tool, at) => (isUnlimited(tools[at]) ? editMembers(tool, limits) : tool)),
  };
}

/** Returns edits that limit the web searches of a Responses request that has no limit. */
export function responseSearchLimits(body: Body): Record<string, Edit> {
  if (isCount(body['max_tool_calls']) || searchTools(body).length === 0) return {};
  return { max_tool_calls: String(DEFAULT_WEB_SEARCHES) };
}

/** Returns the web searches in the output items of a response. Opening a found page is free. */
export function searchesIn(output: readonly unknown[]): number {
  return output.filter(isSearch).length;
}

/** True if an output item of a response is a web search. */
export function isSearch(item: unknown): boolean {
  if (!isObject(item) || item['type'] !== 'web_search_call') return false;
  const { action } = item;
  return !isObject(action) || action['type'] === 'search' || action['type'] === undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

function countOr(value: unknown, fallback: number): number {
  return isCount(value) ? value : fallback;
}
