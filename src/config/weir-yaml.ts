import { Value, type ValueError, ValuePointer } from '@sinclair/typebox/value';
import { builtInModels } from '../catalogue/built-in.ts';
import type { ModelDeclaration } from '../catalogue/schema.ts';
import { closestName } from '../errors/closest-name.ts';
import { explainMismatch } from '../errors/mismatch.ts';
import { baseUrlProblem } from './base-url.ts';
import { findContradictions } from './contradictions.ts';
import { ConfigurationError } from './environment.ts';
import { parseValue } from './parse-value.ts';
import { type WeirYaml, WeirYamlSchema } from './schema.ts';
import { type Mistake, pointerStep, stepsOf, YamlSource } from './yaml-source.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** At most this many mistakes are reported. */
const MAX_MISTAKES = 20;

/** Result of reading `weir.yaml`: a usable configuration, or the mistakes of the file. */
export type WeirYamlReading =
  | { config: WeirYaml; references: ReadonlyMap<string, string> }
  | { mistakes: Mistake[] };

/**
 * Reads `weir.yaml` without side effects. A value `env:NAME` is replaced from `env`. Each model of
 * a channel must be declared in the file or be in `known`. Mistakes never quote a value, because a
 * value may be a secret.
 */
export function readWeirYaml(
  text: string,
  env: Env,
  known: readonly ModelDeclaration[] = builtInModels(),
): WeirYamlReading {
  const source = new YamlSource(text);
  const syntax = source.syntaxMistakes();
  if (syntax.length > 0) return { mistakes: syntax.slice(0, MAX_MISTAKES) };
  const mistakes: Mistake[] = [];
  const reported = new Set<string>();
  const add = (pointer: string, message: string) => {
    // TypeBox reports a missing key twice: as missing, and as a value of the wrong type. Only the
    // first report is useful.
    if (reported.has(pointer)) return;
    reported.add(pointer);
    mistakes.push({ line: source.lineOf(pointer), path: stepsOf(pointer).join('.'), message });
  };
  const references = new Map<string, string>();
  const candidate = resolve(source, env, add, references);
  findWrongAddresses(candidate, add);
  for (const error of Value.Errors(WeirYamlSchema, candidate)) {
    if (mistakes.length >= MAX_MISTAKES) break;
    const { pointer, message } = explain(error);
    add(pointer, message);
  }
  if (mistakes.length === 0) {
    const config = withTidyAddresses(Value.Decode(WeirYamlSchema, candidate));
    findContradictions(config, known, add);
    if (mistakes.length === 0) return { config, references };
  }
  return { mistakes: mistakes.slice(0, MAX_MISTAKES) };
}

/**
 * Returns the configuration of `weir.yaml`. If the file has mistakes, throws one ConfigurationError
 * that names file and line of each mistake.
 */
export function parseWeirYaml(text: string, env: Env, file = 'weir.yaml'): WeirYaml {
  return parseDeclared(text, env, file).yaml;
}

/**
 * Returns the configuration, and which of its values are variables of the environment: their names, by
 * JSON pointer. Throws like `parseWeirYaml`.
 */
export function parseDeclared(
  text: string,
  env: Env,
  file: string,
): { readonly yaml: WeirYaml; readonly references: ReadonlyMap<string, string> } {
  const reading = readWeirYaml(text, env);
  if ('config' in reading) return { yaml: reading.config, references: reading.references };
  const lines = reading.mistakes.map(
    ({ line, path, message }) => `${file}:${line}: ${path === '' ? '' : `${path}: `}${message}`,
  );
  throw new ConfigurationError(lines.join('\n'));
}

/**
 * Returns the value with defaults filled in and `env:NAME` replaced. Numbers and booleans from the
 * environment are parsed. Calls `add` for a missing variable, and for a YAML alias (`*name`) that
 * cannot be resolved. Adds the name of each variable to `references`.
 */
function resolve(
  source: YamlSource,
  env: Env,
  add: (pointer: string, message: string) => void,
  references: Map<string, string>,
): unknown {
  let value: unknown;
  try {
    value = source.value() ?? {};
  } catch (error) {
    add('', error instanceof Error ? error.message : String(error));
    return {};
  }
  refuseShellVariables(value, '', add);
  const resolved = resolveEnv(value, '', (pointer, name) => {
    references.set(pointer, name);
    if (env[name] === undefined) add(pointer, `the environment variable ${name} is not set`);
    return env[name] ?? '';
  });
  const candidate = withDefaults(resolved);
  for (const error of Value.Errors(WeirYamlSchema, candidate)) {
    if (!references.has(error.path) || typeof error.value !== 'string') continue;
    ValuePointer.Set(candidate, error.path, parseValue(error.schema['type'], error.value));
  }
  return candidate;
}

/**
 * Returns the value with defaults. If `channels` or `models` is a mapping instead of a list,
 * TypeBox merges the mapping into the default list. This function puts the mapping back, so that
 * the validation reports it.
 */
function withDefaults(value: unknown): unknown {
  const filled: unknown = Value.Default(WeirYamlSchema, structuredClone(value));
  if (!isMapping(filled) || !isMapping(value)) return filled;
  for (const key of ['channels', 'models']) {
    if (value[key] !== undefined && !Array.isArray(value[key])) filled[key] = value[key];
  }
  return filled;
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A variable as shells and Compose files write it. Nobody has such a key or address. */
const SHELL_VARIABLE = /\$\{(\w+)[^}]*\}|^\$(\w+)$/;

/** Reports values such as `${NAME}`: Weir reads the environment by `env:NAME` only. */
function refuseShellVariables(
  value: unknown,
  pointer: string,
  add: (pointer: string, message: string) => void,
): void {
  if (typeof value === 'string') {
    const [, braced, bare] = SHELL_VARIABLE.exec(value) ?? [];
    const name = braced ?? bare;
    if (name) add(pointer, `is a shell variable; write env:${name} as the whole value`);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value)) {
      refuseShellVariables(each, `${pointer}/${pointerStep(key)}`, add);
    }
  }
}

function resolveEnv(
  value: unknown,
  pointer: string,
  lookUp: (pointer: string, name: string) => string,
): unknown {
  if (typeof value === 'string' && value.startsWith('env:')) return lookUp(pointer, value.slice(4));
  if (Array.isArray(value)) {
    return value.map((each, index) => resolveEnv(each, `${pointer}/${index}`, lookUp));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      resolveEnv(each, `${pointer}/${pointerStep(key)}`, lookUp),
    ]),
  );
}

/** Reports what is wrong with the `base_url` of each channel. */
function findWrongAddresses(
  candidate: unknown,
  add: (pointer: string, message: string) => void,
): void {
  const channels = isMapping(candidate) ? candidate['channels'] : undefined;
  if (!Array.isArray(channels)) return;
  for (const [index, channel] of channels.entries()) {
    const base_url: unknown = isMapping(channel) ? channel['base_url'] : undefined;
    const problem = typeof base_url === 'string' ? baseUrlProblem(base_url) : undefined;
    if (problem !== undefined) add(`/channels/${index}/base_url`, problem);
  }
}

function explain(error: ValueError): { pointer: string; message: string } {
  const { pointer, message, kind, known } = explainMismatch(error);
  const meant = kind === 'unknown' ? closestName(stepsOf(pointer).at(-1) ?? '', known) : undefined;
  return { pointer, message: meant ? `${message}; did you mean ${meant}?` : message };
}

/** Removes the slashes at the end of base URLs, because paths are appended to them. */
function withTidyAddresses(config: WeirYaml): WeirYaml {
  return {
    ...config,
    channels: config.channels.map((channel) => ({
      ...channel,
      base_url: channel.base_url.replace(/\/+$/, ''),
    })),
  };
}
