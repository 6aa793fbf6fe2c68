import type { UpstreamCall } from '../contract.ts';
import { failureOf } from '../failures.ts';
import { Exchange, MAX_ERROR_BYTES, parseObject, readAll } from '../http.ts';

/** Asks with a body of our own. Throws like every direct call. */
export async function askJson(
  call: UpstreamCall,
  path: string,
  headers: Record<string, string>,
  body: object,
): Promise<Record<string, unknown>> {
  const exchange = new Exchange(call);
  await exchange.send(path, headers, JSON.stringify(body));
  const { ok, status, headers: said } = exchange.response;
  const text = await readAll(exchange, ok ? undefined : MAX_ERROR_BYTES);
  if (!ok) throw failureOf(call, status, said, text);
  return parseObject(text);
}
