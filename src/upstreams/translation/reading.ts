import { CHAT_PATHS, isLeftOut } from '../../catalogue/left-out.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { parseExact } from '../../json/exact-integers.ts';
import { isObject } from '../../json/object.ts';
import type { ClientProtocol } from '../../protocols/names.ts';
import type { Feature } from './features.ts';
import { mediaType, typeOfUrl } from './media.ts';
import type { FeatureUse, ImagePart } from './neutral.ts';

/** A parsed JSON object. */
export type ReadonlyJsonObject = Readonly<Record<string, unknown>>;

/** Collects the features that a request uses while it is read. */
export class FeatureUses {
  readonly uses: FeatureUse[] = [];

  /** `client` is the protocol of the request. */
  constructor(private readonly client: ClientProtocol) {}

  /** Adds a feature and the parameter that uses it. */
  note(feature: Feature, param: string, media_type?: string): void {
    this.uses.push({ feature, param, ...(media_type === undefined ? {} : { media_type }) });
  }

  /**
   * Notes the feature `other` for each member that has a value and may change the answer: it is
   * neither in `known` nor on the list of what is left out. `prefix` is the path of the object, with
   * a dot at its end.
   */
  noteOthers(body: ReadonlyJsonObject, known: ReadonlySet<string>, prefix = ''): void {
    for (const [key, value] of Object.entries(body)) {
      if (value === null || value === undefined || known.has(key)) continue;
      const param = prefix + key;
      if (!isLeftOut(CHAT_PATHS[this.client], param.replace(LIST_PLACE, '[]'), value)) {
        this.note('other', param);
      }
    }
  }
}

/** A place in a list, as the protocols write it in paths: `tools[0].name`, `tools.0.name`. */
const LIST_PLACE = /\[\d+\]|\.\d+(?=\.)/g;

/**
 * Returns a 400 error that names the parameter. `problem` is the second part of the message, for
 * example `must be a string.`
 */
export function parameterError(param: string, problem: string): WeirError {
  return new WeirError('invalid_request', `${param}: ${problem}`, { param });
}

/** Returns the value if it is an array; otherwise an empty list. */
export function listOrEmpty(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the value if it is a string. Throws WeirError (400) otherwise. */
export function requireText(value: unknown, param: string): string {
  if (typeof value === 'string') return value;
  throw parameterError(param, 'must be a string.');
}

/** Returns the value if it is an object. Throws WeirError (400) otherwise. */
export function requireObject(value: unknown, param: string): ReadonlyJsonObject {
  if (isObject(value)) return value;
  throw parameterError(param, 'must be an object.');
}

/** Returns the value if it is a number; otherwise undefined. */
export function numberOrUndefined(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

const DATA_URL = /^data:([^;,]+)?(?:;[^;,]+)*;base64,(.*)$/s;

/**
 * Reads an image from a URL. Notes whether the image is inline, that is, a `data:` URL. `detail` is
 * the parameter of OpenAI's protocols.
 */
export function readImageUrl(
  url: string,
  param: string,
  features: FeatureUses,
  detail?: unknown,
): ImagePart {
  const more = typeof detail === 'string' ? { detail } : {};
  const inline = readDataUrl(url);
  if (!inline) return { ...byUrl('image_url', url, param, features), type: 'image', ...more };
  features.note('image_inline', param, inline.media_type);
  return { type: 'image', ...inline, ...more };
}

/** Notes a file by URL. Returns the URL with its media type, if the URL or `media_type` tells it. */
export function byUrl(
  feature: 'image_url' | 'file_url',
  url: string,
  param: string,
  features: FeatureUses,
  media_type = typeOfUrl(url),
): { url: string; media_type?: string } {
  features.note(feature, param, media_type);
  return { url, ...(media_type === undefined ? {} : { media_type }) };
}

/** Reads a Base64 `data:` URL; undefined for other URLs. */
export function readDataUrl(url: string): { media_type: string; data: string } | undefined {
  const [, type = 'application/octet-stream', data] = DATA_URL.exec(url) ?? [];
  return data === undefined ? undefined : { media_type: mediaType(type), data };
}

/**
 * Returns the unchanged text of a call's arguments. If the text is not a JSON object, notes the
 * feature `broken_arguments`.
 */
export function readArguments(value: unknown, param: string, features: FeatureUses): string {
  const text = requireText(value, param);
  if (text.trim() !== '' && !isObject(parsed(text))) features.note('broken_arguments', param);
  return text;
}

function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** Parses the arguments of a call. Returns an empty object if they are not a JSON object. */
export function parseArguments(text: string): ReadonlyJsonObject {
  const value = parsed(text);
  return isObject(value) ? value : {};
}
