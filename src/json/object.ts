/** True if the value is a JSON object: neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the object without its undefined members. */
export function withoutUndefined<Value extends object>(
  value: Value,
): {
  [Key in keyof Value]: Exclude<Value[Key], undefined>;
} {
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries) as never;
}
