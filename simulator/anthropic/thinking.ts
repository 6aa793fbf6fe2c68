/** The checks of thinking in earlier turns (Anthropic docs: Extended thinking). */
import { isObject, type JsonObject } from '../shared/json.ts';
import { invalid } from './errors.ts';

/** Anthropic's signatures are base64. */
const SIGNATURE = /^[A-Za-z0-9+/]+={0,2}$/;
const OWN_TYPES = ['thinking', 'redacted_thinking'];

/**
 * Checks the signatures of all thinking, and that a turn whose tools have answered starts with its
 * thinking if the request has a thinking budget.
 * @throws {ProviderError} in the API's words (ding113/claude-code-hub#518,
 * deepset-ai/haystack-core-integrations#2146).
 */
export function checkThinking(messages: readonly unknown[], thinking: unknown): void {
  for (const [at, message] of messages.entries()) {
    for (const [index, block] of blocksOf(message).entries()) {
      if (block['type'] !== 'thinking' || SIGNATURE.test(String(block['signature']))) continue;
      throw invalid(`messages.${at}.content.${index}: Invalid \`signature\` in \`thinking\` block`);
    }
  }
  if (!isObject(thinking) || thinking['type'] !== 'enabled') return;
  if (!blocksOf(messages.at(-1)).some(({ type }) => type === 'tool_result')) return;
  const called = messages.length - 2;
  const [first] = blocksOf(messages[called]);
  if (!first || OWN_TYPES.includes(String(first['type']))) return;
  throw invalid(
    `messages.${called}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first['type']}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`.`,
  );
}

function blocksOf(message: unknown): JsonObject[] {
  const content = isObject(message) ? message['content'] : undefined;
  return Array.isArray(content) ? content.filter(isObject) : [];
}
