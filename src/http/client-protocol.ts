/** The paths of the chat protocols. Every other path speaks OpenAI's conventions. */
const PROTOCOLS: readonly [start: string, protocol: string][] = [
  ['/v1/messages', 'anthropic'],
  ['/v1/responses', 'responses'],
  ['/v1beta/', 'gemini'],
  ['/v1/models/', 'gemini'],
];

/** Returns the protocol that a call's path belongs to, e.g. `anthropic`. */
export function clientProtocolOf({ url }: { readonly url: string }): string {
  const path = url.indexOf('/', url.indexOf('//') + 2);
  return PROTOCOLS.find(([start]) => url.startsWith(start, path))?.[1] ?? 'openai';
}
