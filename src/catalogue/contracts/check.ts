import { closestName } from '../../errors/closest-name.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { GenerationFamily } from '../families.ts';
import type { Body } from './contract.ts';
import { isLeftOutOfGeneration } from './left-out.ts';

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

/** Parameters that the route reads itself. `refuseUnknown` skips them. */
const ROUTE_PARAMETERS = ['model'];
const MAX_QUOTED_CHARS = 100;

/** Names of parameters, for `refuseUnknown`. */
export interface ParameterNames {
  /** The names that the contract publishes. A hint suggests only these. */
  readonly published: readonly string[];
  /** Names that are not published, but that the contract later refuses with an error of its own. */
  readonly checked?: readonly string[];
  /** Other names of parameters, with the canonical names. */
  readonly aliases?: Readonly<Record<string, string>>;
  /**
   * Names that other models of the scene take. They are not misspelled, so no hint corrects them.
   */
  readonly elsewhere?: readonly string[];
}

/**
 * Throws WeirError for the first parameter of a body that the model does not take, unless Weir may
 * leave the parameter out of the upstream's request (P18). The error names the parameter as the
 * client wrote it. The hint names the parameter that the client probably meant. A parameter with
 * the value null counts as missing.
 */
export function refuseUnknown({ id, family }: ModelName, body: Body, names: ParameterNames): void {
  const { published, checked = [], aliases = {}, elsewhere = [] } = names;
  const isTaken = (name: string) => published.includes(name) || checked.includes(name);
  for (const [name, value] of Object.entries(body)) {
    if (value === null || value === undefined || ROUTE_PARAMETERS.includes(name)) continue;
    const canonical = Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name;
    if (isTaken(canonical) || isLeftOutOfGeneration(family, canonical, value)) continue;
    const meant = elsewhere.includes(canonical) ? undefined : closestName(name, published);
    const hint = meant ? `Did you mean ${meant}?` : `Send GET /v1/models/${id} for its parameters.`;
    throw invalidParameter(name, `${id} does not take ${name.slice(0, MAX_QUOTED_CHARS)}.`, hint);
  }
}

/** The model of a contract. */
export interface ModelName {
  readonly id: string;
  readonly family: GenerationFamily;
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
