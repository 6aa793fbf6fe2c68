import type { UpstreamCall } from '../contract.ts';

const MAX_MESSAGE_CHARS = 500;
/** Stands for the model's name while the rest of a message is cleaned. */
const MODEL = '\u0000';

/** What names an upstream in its messages, and what is said instead. */
const TELLTALES: [pattern: RegExp, instead: string][] = [
  // "You can find your API key at https://…", "(request id: …)": the whole address, the whole id.
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s'"`)\]}>]+/gi, ''],
  [/\b(?:[a-z0-9-]+\.)+(?:com|ai|io|net|org|dev|cloud|internal|local|cn)\b(?::\d+)?/gi, '***'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g, '***'],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '***'],
  // IdSource and fragments of keys hold a digit or a mask; the names of parameters hold neither.
  [/\b(?:req|org|proj|acct|sk|key|user|team)[-_](?=[\w*-]*[\d*])[\w*-]{4,}/g, '***'],
  [/\s*\(?\brequest[ _-]?id:?\s*[\w*-]+\)?/gi, ''],
  // The headers of the native dialect are the client's business.
  [/\b(?:openai|anthropic|azure|bedrock|vertex ai)\b(?!-(?:beta|version))/gi, 'the provider'],
];

/**
 * Keeps what helps the caller in an upstream's message and takes out what names the upstream (P5):
 * the physical model, addresses, request and organization ids, fragments of keys.
 */
export function scrub(
  message: string,
  call: Pick<UpstreamCall, 'physical_model' | 'public_model' | 'target'>,
): string {
  const { physical_model, public_model, target } = call;
  let text = message.slice(0, 4 * MAX_MESSAGE_CHARS);
  if (target.api_key !== '') text = text.replaceAll(target.api_key, '***');
  for (const name of [physical_model, public_model]) {
    if (name !== '') text = text.replaceAll(name, MODEL);
  }
  for (const [pattern, instead] of TELLTALES) text = text.replace(pattern, instead);
  return text.replaceAll(MODEL, public_model).slice(0, MAX_MESSAGE_CHARS).trim();
}
