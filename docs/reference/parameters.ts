import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import {
  MAX_CLIENT_TIMEOUT_MS,
  MIN_CLIENT_TIMEOUT_MS,
} from '../../src/inference/client-deadline.ts';
import { PATH_WORDS } from './management-words.ts';
import {
  type HeaderName,
  pathParameters,
  type ReferencePage,
  type ReferenceRoute,
} from './route.ts';
import { membersOf } from './type-text.ts';

/** A parameter of a route, with all that the reference says of it. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'body';
  readonly schema: TSchema;
  readonly required: boolean;
  readonly says: string;
}

const HEADERS: Record<HeaderName, { readonly schema: TSchema; readonly says: string }> = {
  'anthropic-beta': { schema: Type.String(), says: 'Goes on to the provider.' },
  'anthropic-version': {
    schema: Type.String(),
    says: 'The version of the interface: `2023-06-01`.',
  },
  'Idempotency-Key': {
    schema: Type.String({ minLength: 1, maxLength: 255 }),
    says: 'A repeat with the same value gets the first answer, and does nothing again.',
  },
  'If-Match': {
    schema: Type.String(),
    says: 'The `ETag` of the last answer. If somebody else changed the thing, the answer is 412.',
  },
  'Last-Event-ID': {
    schema: Type.String(),
    says: 'The id of the last event that the client has. The stream goes on after it.',
  },
  Range: { schema: Type.String(), says: 'One range of bytes.' },
  'x-weir-image-response-format': {
    schema: Type.Union([Type.Literal('url'), Type.Literal('b64_json')]),
    says: '`response_format`, for programs that cannot send it.',
  },
  'x-weir-timeout-ms': {
    schema: Type.Integer({ minimum: MIN_CLIENT_TIMEOUT_MS, maximum: MAX_CLIENT_TIMEOUT_MS }),
    says: 'The time for the whole call, milliseconds.',
  },
};
const REQUIRED_HEADER: HeaderName = 'anthropic-version';

/** Returns all parameters of a route: of its path, its query, its headers and its body. */
export function parametersOf(page: ReferencePage, route: ReferenceRoute): Parameter[] {
  const wordsOf = (name: string, { description }: TSchema) =>
    route.words?.[name] ?? description ?? wordsIn(page, name);
  const members = (at: 'query' | 'body', schema: TObject | undefined) =>
    (schema ? membersOf(schema) : []).map(
      (member): Parameter => ({ ...member, in: at, says: wordsOf(member.name, member.schema) }),
    );
  return [
    ...pathParameters(route).map(
      (name): Parameter => ({
        ...{ name, in: 'path', schema: Type.String(), required: true },
        says: pathWords(route, name),
      }),
    ),
    ...(route.plain ?? []).map(
      ({ name, schema, required = false }): Parameter => ({
        ...{ name, in: 'query', schema, required, says: wordsOf(name, schema) },
      }),
    ),
    ...members('query', route.query),
    ...(route.headers ?? []).map(
      (name): Parameter => ({
        ...{ name, in: 'header', required: name === REQUIRED_HEADER, ...HEADERS[name] },
      }),
    ),
    ...members('body', route.body),
  ];
}

/** The words for a member, or for its last part: `role` for `messages[].role`. Throws if there are none. */
function wordsIn({ words }: ReferencePage, name: string): string {
  const last = name.split('.').at(-1) ?? name;
  const found = words[name] ?? words[last];
  if (found === undefined) throw new Error(`no words say what the parameter ${name} is`);
  return found;
}

function pathWords({ path }: ReferenceRoute, name: string): string {
  const until = path.slice(0, path.indexOf(`{${name}}`) + name.length + 2);
  const found = PATH_WORDS.find(([start]) => until.startsWith(start));
  if (!found) throw new Error(`no words say what {${name}} of ${path} is`);
  return found[1];
}
