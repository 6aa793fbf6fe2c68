/** Finds the words in an error that a client's protocol does not have. */
import type { ClientProtocol } from '../../../src/protocols/names.ts';
import { REQUEST_NAMES } from './request-names.ts';

/** JSON Schema belongs to every protocol: all take schemas of tools. */
const SCHEMA_WORDS = new Set(
  (
    'properties required items enum anyOf format pattern default title minLength maxLength ' +
    'minItems maxItems minimum maximum minProperties maxProperties nullable additionalProperties'
  ).split(' '),
);
/**
 * Names that are also words of everyday English. An error may use them in a sentence, but not as a
 * name: in quotation marks, in a path or in front of a colon.
 */
const EVERYDAY = new Set(
  (
    'action actions active always approve async attempts attributes author background behavior button ' +
    'bytes categories category city code command commands comparison complexity content context ' +
    'country data definition delta detail diff disable display domain effort enabled endpoint ' +
    'environment error example execution explanation fetch file filter filters find finished flagged ' +
    'generate headers hold id image include index input key keys language latitude level lines ' +
    'logs message method mode model name navigate never operation outcome output outputs param ' +
    'parameters path phase places policy prompt quality queries query ranking reason reasoning ' +
    'region response result results role routing schema score screenshot scroll signature size ' +
    'source sources speaker speed status steer stop store stream style summary system text ' +
    'threshold timeout tool tools token type url usage user value variables version voice wait ' +
    'word words zoom'
  ).split(' '),
);
/** Names of types and phrases of one provider. */
const PHRASES: [RegExp, ClientProtocol][] = [
  [/\w+Request\b|Content\.parts|function call turn|valid role|\bproto\b/i, 'gemini'],
  [/content blocks?/i, 'anthropic'],
];
const PRODUCTS =
  /claude|gemini|gpt|openai|anthropic|google|vertex|bedrock|amazon|azure|cohere|deepl/i;

/**
 * Returns the words of the text that the upstream's protocol has and the client's lacks, and names of
 * products. `own` are the names that the client chose.
 */
export function foreignWords(
  text: string,
  client: ClientProtocol,
  upstream: ClientProtocol,
  own: readonly string[],
): string[] {
  const [theirs, ours] = [REQUEST_NAMES[upstream], REQUEST_NAMES[client]];
  const found: string[] = [];
  for (const match of text.matchAll(/(['"`.\][]?)([A-Za-z_$][\w$]*)(['"`.:[]?)/g)) {
    const [, before = '', word = '', after = ''] = match;
    if (own.includes(word) || SCHEMA_WORDS.has(word)) continue;
    if (ours.members.has(word) || ours.tags.has(word)) continue;
    const isName = theirs.members.has(word) || (theirs.tags.has(word) && word.includes('_'));
    if (!isName) continue;
    // A full stop at the end of a sentence makes no path.
    const isShown = before !== '' || (after !== '' && (after !== '.' || isPath(text, match)));
    if (isShown || !EVERYDAY.has(word)) found.push(word);
  }
  for (const [phrase, home] of PHRASES) {
    if (home !== client && phrase.test(text)) found.push(String(phrase.exec(text)?.[0]));
  }
  const product = PRODUCTS.exec(text);
  return product ? [...found, product[0]] : found;
}

function isPath(text: string, { index, 0: whole }: RegExpExecArray): boolean {
  return /\w/.test(text[index + whole.length] ?? '');
}
