import type { UpstreamCall } from '../contract.ts';
import { failureOf } from '../failures.ts';
import { ask, parseObject } from '../http.ts';

/** Asks with a body of our own. Throws like every direct call. */
export async function askJson(
  call: UpstreamCall,
  path: string,
  headers: Record<string, string>,
  body: object,
): Promise<Record<string, unknown>> {
  const { ok, status, headers: said, text } = await ask(call, path, headers, JSON.stringify(body));
  if (!ok) throw failureOf(call, status, said, text);
  return parseObject(text);
}
