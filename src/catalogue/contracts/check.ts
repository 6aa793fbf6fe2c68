import { WeirError } from '../../errors/weir-error.ts';
import type { Body } from './contract.ts';

/** Returns a WeirError `invalid_request` that names the wrong parameter. */
export function invalidParameter(param: string, message: string, hint?: string): WeirError {
  return new WeirError('invalid_request', message, { param, ...(hint ? { hint } : {}) });
}

/**
 * Returns the parameters that have a value, under their canonical names. A parameter with the value
 * null counts as missing. Throws WeirError if two names of one parameter have different values.
 */
export function resolveAliases(
  body: Body,
  aliases: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    if (value !== null && value !== undefined && !Object.hasOwn(aliases, name)) given[name] = value;
  }
  for (const [alias, name] of Object.entries(aliases)) {
    const value = body[alias];
    if (value === null || value === undefined) continue;
    if (given[name] !== undefined && !Bun.deepEquals(given[name], value)) {
      throw invalidParameter(alias, `${alias} is another name of ${name}. Send only one of them.`);
    }
    given[name] = value;
  }
  return given;
}

/**
 * Returns the parameters of `given` whose names are in `names`. Throws WeirError if PostgreSQL
 * cannot store a value.
 */
export function pickParameters(given: Body, names: Iterable<string>): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const name of names) {
    if (!Object.hasOwn(given, name)) continue;
    if (!isStorable(given[name])) {
      throw invalidParameter(
        name,
        `${name} must not contain the character NUL or an unpaired surrogate.`,
      );
    }
    picked[name] = given[name];
  }
  return picked;
}

/**
 * False for text with NUL or an unpaired surrogate: PostgreSQL stores neither (PostgreSQL docs:
 * JSON types).
 */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member));
}
