import { WeirError } from '../../errors/weir-error.ts';
import { isObject } from '../../json/object.ts';
import type { Feature } from './features.ts';
import type { FeatureUse, ImagePart } from './neutral.ts';

export type ReadonlyJsonObject = Readonly<Record<string, unknown>>;

/** Notes what a request needs while it is read, and refuses what is not well formed. */
export class FeatureUses {
  readonly uses: FeatureUse[] = [];

  note(feature: Feature, param: string): void {
    this.uses.push({ feature, param });
  }

  /** For members of a request that nobody named: each may change the answer. */
  noteOthers(body: ReadonlyJsonObject, known: ReadonlySet<string>, prefix = ''): void {
    for (const [key, value] of Object.entries(body)) {
      if (value !== null && value !== undefined && !known.has(key)) {
        this.note('other', prefix + key);
      }
    }
  }
}

/** 400 naming the parameter. */
export function wrong(param: string, what: string): WeirError {
  return new WeirError('invalid_request', `${param}: ${what}`, { param });
}

export function listOrEmpty(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A member that must be a text. */
export function requireText(value: unknown, param: string): string {
  if (typeof value === 'string') return value;
  throw wrong(param, 'must be a string.');
}

/** A member that must be an object. */
export function requireObject(value: unknown, param: string): ReadonlyJsonObject {
  if (isObject(value)) return value;
  throw wrong(param, 'must be an object.');
}

export function numberOrUndefined(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

const DATA_URL = /^data:([^;,]+)?(?:;[^;,]+)*;base64,(.*)$/s;

/** An image by an address that may be a `data:` URL. */
export function imageAt(url: string, param: string, needs: FeatureUses): ImagePart {
  const inline = dataUrl(url);
  needs.note(inline ? 'image_inline' : 'image_url', param);
  return inline ? { type: 'image', ...inline } : { type: 'image', url };
}

export function dataUrl(url: string): { media_type: string; data: string } | undefined {
  const [, media_type = 'application/octet-stream', data] = DATA_URL.exec(url) ?? [];
  return data === undefined ? undefined : { media_type, data };
}

/** Without the members that are undefined. */
export function defined<Value extends object>(
  value: Value,
): {
  [Key in keyof Value]: Exclude<Value[Key], undefined>;
} {
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries) as never;
}

/** The arguments of a call, as the text that they are; some protocols take JSON only. */
export function callArguments(value: unknown, param: string, needs: FeatureUses): string {
  const text = requireText(value, param);
  if (text.trim() !== '' && !isObject(parsed(text))) needs.note('broken_arguments', param);
  return text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The JSON of a tool's arguments as a value; what is no object is an empty one. */
export function argumentsOf(text: string): ReadonlyJsonObject {
  const value = parsed(text);
  return isObject(value) ? value : {};
}
