import type { UpstreamCall } from '../contract.ts';
import { ask, parseObject } from '../transport/exchange.ts';
import { failureOf } from '../transport/failures.ts';

/** Asks with a body of our own. Throws like every direct call. */
export function askJson(
  call: UpstreamCall,
  path: string,
  headers: Record<string, string>,
  body: object,
): Promise<Record<string, unknown>> {
  return ask(call, path, headers, JSON.stringify(body), (head, text) => {
    if (!head.ok) throw failureOf(call, head.status, head.headers, text);
    return parseObject(text);
  });
}
