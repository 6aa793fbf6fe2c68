/** Reads requests of generateContent for models that make images or speech. */
import { CHAT_PATHS, isLeftOut } from '../../catalogue/left-out.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { isObject } from '../../json/object.ts';
import { camelCaseMembers } from '../../upstreams/translation/gemini-format.ts';
import {
  listOrEmpty,
  parameterError,
  type ReadonlyJsonObject,
  requireText,
} from '../../upstreams/translation/reading.ts';

/** What a request asks of a model that makes images or speech. */
export interface MediaRequest {
  /** The texts of all turns, one in each line. */
  readonly text: string;
  /** Input images, as `data:` URLs. */
  readonly images: readonly string[];
  /** `generationConfig`, with names in camelCase. */
  readonly config: ReadonlyJsonObject;
}

const KNOWN = ['contents', 'generationConfig'];
const CONFIG = 'generationConfig';

/**
 * Reads a request. `known` are the members of `generationConfig` that the caller reads. Throws
 * WeirError (400) that names the first parameter that the model cannot take.
 */
export function readMediaRequest(
  sent: ReadonlyJsonObject,
  model: string,
  known: readonly string[],
): MediaRequest {
  const body = camelCaseMembers(sent);
  refuseOthers(body, KNOWN, '', model);
  const config = camelCaseMembers(body[CONFIG]);
  refuseOthers(config, known, `${CONFIG}.`, model);
  const texts: string[] = [];
  const images: string[] = [];
  for (const [at, content] of listOrEmpty(body['contents']).entries()) {
    const turn = camelCaseMembers(content);
    const path = `contents[${at}]`;
    if (turn['role'] === 'model') {
      throw new WeirError('invalid_request', `${model} does not continue a conversation.`, {
        param: `${path}.role`,
        hint: 'Send one turn with the text and, to change an image, the image as inlineData.',
      });
    }
    for (const [index, each] of listOrEmpty(turn['parts']).entries()) {
      const param = `${path}.parts[${index}]`;
      const part = camelCaseMembers(each);
      refuseOthers(part, ['text', 'inlineData'], `${param}.`, model);
      if (part['text'] !== undefined) texts.push(requireText(part['text'], `${param}.text`));
      if (isObject(part['inlineData'])) images.push(imageIn(part['inlineData'], param));
    }
  }
  const text = texts.join('\n');
  if (text.trim() === '') throw parameterError('contents', 'must have a text.');
  return { text, images, config };
}

/** Throws WeirError unless the model makes everything that `responseModalities` lists. */
export function checkModalities(value: unknown, model: string, made: readonly string[]): void {
  const param = `${CONFIG}.responseModalities`;
  const wanted = listOrEmpty(value).map((each) => String(each).toUpperCase());
  const other = wanted.find((each) => !made.includes(each));
  const [main = ''] = made;
  if (other === undefined && (wanted.length === 0 || wanted.includes(main))) return;
  throw new WeirError('invalid_request', `${model} makes ${main}, not ${other ?? wanted}.`, {
    param,
    hint: `Send ["${main}"].`,
  });
}

/** Returns a refusal of a parameter that the model does not take. */
export function notTaken(model: string, param: string): WeirError {
  const hint = 'Leave it out, or use another model.';
  return new WeirError('invalid_request', `${model} does not take ${param}.`, { param, hint });
}

/** Throws for the first member that has a value, is not known, and may not be left out (P18). */
export function refuseOthers(
  members: ReadonlyJsonObject,
  known: readonly string[],
  prefix: string,
  model: string,
): void {
  for (const [name, value] of Object.entries(members)) {
    if (known.includes(name) || isEmpty(value)) continue;
    const param = prefix + name;
    if (!isLeftOut(CHAT_PATHS.gemini, param, value)) throw notTaken(model, param);
  }
}

/** True for null and for empty lists and objects, which change nothing. */
function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function imageIn(sent: ReadonlyJsonObject, param: string): string {
  const data = camelCaseMembers(sent);
  const type = requireText(data['mimeType'], `${param}.inlineData.mimeType`);
  // Python's SDK sends the URL-safe alphabet, which only Google reads (RFC 4648, section 5).
  const bytes = requireText(data['data'], `${param}.inlineData.data`)
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  return `data:${type};base64,${bytes}`;
}

/**
 * Returns the error with the client's name of the parameter, in `names` under Weir's own name.
 * Returns other errors unchanged.
 */
export function inClientsNames(error: unknown, names: Readonly<Record<string, string>>): unknown {
  if (!(error instanceof WeirError)) return error;
  const { param } = error.details;
  const own = typeof param === 'string' && Object.hasOwn(names, param) ? names[param] : undefined;
  if (own === undefined) return error;
  const message = error.message.replace(new RegExp(`\\b${param}\\b`), own);
  return new WeirError(error.id, message, { ...error.details, param: own }, error.cause);
}
