/**
 * The names of members in requests of Gemini. The vendor reads JSON as Protocol Buffers do: each member
 * has a name in camelCase and one in snake_case (protobuf docs: ProtoJSON format).
 */
import { isObject } from '../shared/json.ts';

/** Members whose content belongs to the client: arguments, results, and JSON schemas. */
const FREE = new Set(['args', 'response', 'parametersJsonSchema', 'responseJsonSchema', 'labels']);
/** Members whose keys are names of the client, and whose values are messages of the protocol. */
const MAPS = new Set(['properties', 'defs']);

/** Returns the request with all its names in camelCase. */
export function withCamelNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withCamelNames);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      if (FREE.has(name)) return [name, inner];
      return [
        name,
        MAPS.has(name) && isObject(inner) ? withCamelValues(inner) : withCamelNames(inner),
      ];
    }),
  );
}

function withCamelValues(map: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(map).map(([key, inner]) => [key, withCamelNames(inner)]),
  );
}
