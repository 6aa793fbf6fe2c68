/** Looking into JSON that a stranger sent. */

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Absent and null are the same to the providers, except where they say otherwise. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
