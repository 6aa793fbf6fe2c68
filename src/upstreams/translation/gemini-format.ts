/** The answer's format in Gemini's requests, and answers that are one word of a list (`text/x.enum`). */
import { isObject } from '../../json/object.ts';
import type { Format } from './neutral.ts';
import { type FeatureUses, listOrEmpty, type ReadonlyJsonObject } from './reading.ts';

const PLAIN_TEXT = 'text/plain';
const JSON_TEXT = 'application/json';
/** The answer is one word of the schema's list (Gemini API docs: Structured output, enums). */
const ONE_WORD = 'text/x.enum';
const TYPE = 'generationConfig.responseMimeType';
const SCHEMA = 'generationConfig.responseSchema';
/** The member in which a model of another protocol returns the word. */
const WORD = 'word';

/**
 * Returns a member's name in camelCase. Gemini's REST API accepts both `snake_case` and `camelCase`
 * names.
 */
const toCamelCase = (key: string) =>
  key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/**
 * Returns an object with its members in camelCase; an empty object if the value is not an object.
 */
export function camelCaseMembers(value: unknown): ReadonlyJsonObject {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [toCamelCase(key), each]));
}

/** Converts type names to lower case, as in JSON Schema. Gemini writes them in capitals. */
export function lowerTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lowerTypes);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === 'type' && typeof value === 'string' ? value.toLowerCase() : lowerTypes(value),
    ]),
  );
}

/** Reads the answer's format from a `generationConfig`. Notes the features that it uses. */
export function readFormat(config: ReadonlyJsonObject, features: FeatureUses): Format | undefined {
  const schema = config['responseJsonSchema'] ?? lowerTypes(config['responseSchema']);
  const type = config['responseMimeType'] ?? (schema ? JSON_TEXT : PLAIN_TEXT);
  if (type === ONE_WORD) return readWords(schema, features);
  if (schema) {
    features.note('json_schema', SCHEMA);
    if (type !== JSON_TEXT) features.note('other', TYPE);
    return { type: 'schema', name: 'answer', schema };
  }
  if (type === PLAIN_TEXT) return undefined;
  if (type !== JSON_TEXT) {
    features.note('other', TYPE);
    return undefined;
  }
  features.note('json_mode', TYPE);
  return { type: 'json' };
}

/**
 * Returns an object with one member, the word. The other protocols take only schemas of objects
 * (OpenAI docs: Structured outputs, root objects).
 */
function readWords(schema: unknown, features: FeatureUses): Format | undefined {
  const words = isObject(schema) ? listOrEmpty(schema['enum']) : [];
  if (words.length === 0 || !words.every((word) => typeof word === 'string')) {
    features.note('other', TYPE);
    return undefined;
  }
  features.note('json_schema', SCHEMA);
  const { enum: _, type: __, format: ___, ...others } = schema as ReadonlyJsonObject;
  const properties = { [WORD]: { ...others, type: 'string', enum: words } };
  const required = [WORD];
  return {
    ...{ type: 'schema', name: 'answer', strict: true },
    schema: { type: 'object', properties, required, additionalProperties: false },
  };
}

/** True if the client's request asks for one word of a list. */
export function wantsWord(request: ReadonlyJsonObject): boolean {
  const config = camelCaseMembers(camelCaseMembers(request)['generationConfig']);
  return config['responseMimeType'] === ONE_WORD;
}

/** A JSON object that may be cut off inside its word. */
const CUT_OFF = new RegExp(`^\\s*\\{\\s*"${WORD}"\\s*:\\s*("(?:[^"\\\\]|\\\\.)*)`);

/** Returns the word of an answer. If the answer was cut off, returns the start of the word. */
export function wordIn(text: string): string {
  const value = parsed(text) ?? parsed(`{"${WORD}":${CUT_OFF.exec(text)?.[1] ?? ''}"}`);
  const word = isObject(value) ? value[WORD] : undefined;
  return typeof word === 'string' ? word : text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
