/** Checks of JSON that a client sent. */

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** False for absent values and null, which providers treat alike. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
