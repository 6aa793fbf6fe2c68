/** A value of a setting in words. */
export function wordsOf(value: unknown): string {
  if (value === true) return 'on';
  if (value === false) return 'off';
  return value === null || value === undefined ? 'none' : String(value);
}

/** The name of a setting as a title: `keep_answers` → `Keep answers`. */
export function titleOf(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The bounds of a setting in words; '' if any value of its type is one. */
export function boundsOf(schema: Readonly<Record<string, unknown>>): string {
  const { minimum, maximum, minLength, maxLength } = schema;
  const choices = choicesOf(schema);
  if (schema['type'] === 'boolean') return 'On or off.';
  if (choices) return `One of ${choices.join(', ')}.`;
  const [least, most, unit] =
    minLength === undefined && maxLength === undefined
      ? [minimum, maximum, '']
      : [minLength, maxLength, ' characters'];
  if (least !== undefined && most !== undefined) return `From ${least} to ${most}${unit}.`;
  if (most !== undefined) return `At most ${most}${unit}.`;
  return least === undefined ? '' : `At least ${least}${unit}.`;
}

/** The only values of a setting; undefined if it can have others. */
export function choicesOf(schema: Readonly<Record<string, unknown>>): string[] | undefined {
  const values = schema['anyOf'] ?? schema['enum'];
  if (!Array.isArray(values)) return undefined;
  return values.map((each: { const?: unknown }) => String(each.const ?? each));
}
