import { WeirError } from '../../errors/weir-error.ts';
import type { Body } from './contract.ts';

/** A refusal that names the parameter. */
export function refuse(param: string, message: string, hint?: string): WeirError {
  return new WeirError('invalid_request', message, { param, ...(hint ? { hint } : {}) });
}

/**
 * The parameters that say something (clients send null for what they leave out), under their
 * canonical names. Throws where one is given by two names that disagree.
 */
export function canonical(
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
      throw refuse(alias, `${alias} is another name of ${name}: send one of them.`);
    }
    given[name] = value;
  }
  return given;
}

/** Only those of the parameters that a contract knows. Throws for text that cannot be kept. */
export function pick(given: Body, names: Iterable<string>): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const name of names) {
    if (!Object.hasOwn(given, name)) continue;
    if (!isKeepable(given[name])) {
      throw refuse(name, `${name} must not have the character NUL or half of a character.`);
    }
    picked[name] = given[name];
  }
  return picked;
}

/** PostgreSQL keeps no NUL and no lone surrogate (PostgreSQL docs: JSON types). */
function isKeepable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, each]) => isKeepable(name) && isKeepable(each));
}
