import type { UpstreamCall } from '../contract.ts';
import { parseObject, postOf, requestWhole } from '../transport/exchange.ts';
import { classifyFailure } from '../transport/failures.ts';

/**
 * Sends `body` as JSON and returns the parsed answer. Throws RetryableUpstreamError or
 * TerminalUpstreamError, or the signal's reason if the signal was aborted.
 */
export function requestJson(
  call: UpstreamCall,
  path: string,
  headers: Record<string, string>,
  body: object,
): Promise<Record<string, unknown>> {
  const request = postOf(call, path, headers, JSON.stringify(body));
  return requestWhole(call, request, (head, text) => {
    if (!head.ok) throw classifyFailure(call, head.status, head.headers, text);
    return parseObject(text);
  });
}
