import type { UpstreamCall } from '../contract.ts';
import { parseObject, requestWhole } from '../transport/exchange.ts';
import { classifyFailure } from '../transport/failures.ts';

/**
 * Sends a JSON body that Weir wrote and parses the answer. Throws the errors that contract.ts
 * names.
 */
export function requestJson(
  call: UpstreamCall,
  path: string,
  headers: Record<string, string>,
  body: object,
): Promise<Record<string, unknown>> {
  return requestWhole(call, path, headers, JSON.stringify(body), (head, text) => {
    if (!head.ok) throw classifyFailure(call, head.status, head.headers, text);
    return parseObject(text);
  });
}
