import { Type } from '@sinclair/typebox';
import { storable } from '../inference/records/storable.ts';

/** What a call record keeps of a tag. A longer one never equals it. */
const MAX_TAG_CHARS = 512;
/** `metadata.user_id` names the end user of a call (Anthropic). It is no tag. */
const END_USER = 'user_id';
const NAME = `^(?!${END_USER}$)[^\\u0000]{1,${MAX_TAG_CHARS}}$`;
const VALUE = { maxLength: MAX_TAG_CHARS, pattern: '^[^\\u0000]*$' };

/** What names and values of tags must be, in words. */
export const TAG_BOUNDS = `a name is not ${END_USER}, and has 1 to ${MAX_TAG_CHARS} characters, a value at most as many`;

/** Returns the schema of tags of calls, by their names. */
export function tagsSchema(bounds: {
  readonly minProperties?: number;
  readonly maxProperties: number;
}) {
  return Type.Record(Type.String({ pattern: NAME }), Type.String(VALUE), {
    ...{ ...bounds, additionalProperties: false },
    errorMessage: `must be an object of texts; ${TAG_BOUNDS}`,
  });
}

/** Returns tags as the record of a call keeps them. */
export function storedTags(tags: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(tags).map(([name, value]) => [
    storable(name, name.length),
    storable(value, value.length),
  ]);
  // `fromEntries` also keeps a tag that is named `__proto__`.
  return Object.fromEntries(kept) as Record<string, string>;
}
