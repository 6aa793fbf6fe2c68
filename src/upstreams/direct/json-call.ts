import { RetryableUpstreamError, TerminalUpstreamError, type UpstreamCall } from '../contract.ts';
import { readPath } from '../translation/paths.ts';
import { ownWords } from '../translation/problems.ts';
import { isForeign } from '../translation/vocabulary.ts';
import { parseObject, postOf, requestWhole } from '../transport/exchange.ts';
import { classifyFailure } from '../transport/failures.ts';

/** The client's names of the upstream's parameters. */
export type ClientNames = Readonly<Record<string, string>>;

/**
 * Sends `body` as JSON and returns the parsed answer. Throws RetryableUpstreamError or
 * TerminalUpstreamError, or the signal's reason if the signal was aborted. A refusal of the request
 * has the client's `names` and words.
 */
export function requestJson(
  call: UpstreamCall,
  path: string,
  headers: Record<string, string>,
  body: object,
  names: ClientNames,
): Promise<Record<string, unknown>> {
  const request = postOf(call, path, headers, JSON.stringify(body));
  return requestWhole(call, request, (head, text) => {
    if (head.ok) return parseObject(text);
    const error = classifyFailure(call, head.status, head.headers, text);
    throw error instanceof RetryableUpstreamError
      ? error.withPublicMessage((refusal) => inClientsWords(refusal, names, call))
      : inClientsWords(error, names, call);
  });
}

/** A path with brackets or dots, or the name in front of a colon or in quotation marks. */
const PATH = /[A-Za-z_]\w*(?:\.\w+|\[\d+\])+|(?<=['"`])\w+(?=['"`])|\b\w+(?=:)|\b[a-z]+_\w+/g;

function inClientsWords(
  { error_id, public_message, param, status }: TerminalUpstreamError,
  names: ClientNames,
  { public_model }: UpstreamCall,
): TerminalUpstreamError {
  const find = (path: string) =>
    readPath(path)
      .flatMap((step) => (Object.hasOwn(names, step) ? (names[step] ?? []) : []))
      .at(-1);
  const paths = [param ?? '', ...(public_message.match(PATH) ?? [])];
  const own_param = paths.map(find).find((name) => name !== undefined);
  const rest = public_model === '' ? public_message : public_message.replaceAll(public_model, ' ');
  const message = isForeign(rest, 'direct') ? ownWords(public_message, own_param) : public_message;
  return new TerminalUpstreamError(error_id, message, own_param ?? null, status);
}
