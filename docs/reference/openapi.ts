import type { TSchema } from '@sinclair/typebox';
import manifest from '../../package.json' with { type: 'json' };
import { callersOf } from './callers.ts';
import { type Parameter, parametersOf } from './parameters.ts';
import { type Caller, type ReferencePage, type ReferenceRoute, titleOf } from './route.ts';
import { REFERENCE_PAGES } from './routes.ts';

/** The text of `docs/openapi.json`: the reference as an OpenAPI 3.1 document. */
export function openapiText(): string {
  return `${JSON.stringify(openapiDocument(), undefined, 1)}\n`;
}

/** The reference as an OpenAPI 3.1 document. Its schemas are those with which the routes check a request. */
function openapiDocument(): object {
  return {
    openapi: '3.1.0',
    info: {
      ...{ title: 'Weir', version: manifest.version, description: manifest.description },
      license: { name: 'Apache License 2.0', identifier: manifest.license },
    },
    servers: [{ url: '/' }],
    tags: REFERENCE_PAGES.map(({ slug, says }) => ({ name: slug, description: says })),
    paths: pathItems(),
    components: { securitySchemes: SECURITY_SCHEMES, schemas: { Error: ERROR } },
  };
}

const bearer = (description: string) => ({ type: 'http', scheme: 'bearer', description });
const header = (name: string, description: string) => ({
  ...{ type: 'apiKey', in: 'header', name, description },
});

const SECURITY_SCHEMES = {
  api_key: bearer('An API key, sk-….'),
  api_key_of_anthropic: header('x-api-key', 'An API key, as Anthropic’s SDK sends it.'),
  api_key_of_google: header('x-goog-api-key', 'An API key, as Google’s SDK sends it.'),
  management_token: bearer('A management token, mt-….'),
  operator_token: bearer('An operator token, op-….'),
  metrics_token: bearer('The token of WEIR_METRICS_TOKEN.'),
  session: {
    ...{ type: 'apiKey', in: 'cookie', name: 'weir.session_token' },
    description: 'The session of a person. Behind TLS, the name begins with __Secure-.',
  },
  key_of_session: header('weir-key', 'The id of the API key with which a signed-in person calls.'),
};

type Requirement = Partial<Record<keyof typeof SECURITY_SCHEMES, never[]>>;

const SECURITY: Record<Caller, readonly Requirement[]> = {
  key: [{ api_key: [] }, { session: [], key_of_session: [] }],
  organization: [{ management_token: [] }, { session: [] }],
  operator: [{ operator_token: [] }, { session: [] }],
  session: [{ session: [] }],
  monitor: [{}, { operator_token: [] }, { metrics_token: [] }],
  anybody: [],
  link: [],
};

/** The ways of authentication of a route. Clients of Anthropic and Google send a key in their own headers. */
function securityOf({ caller, path }: ReferenceRoute): readonly Requirement[] {
  if (caller !== 'key') return SECURITY[caller];
  const isNative = /^\/v1(beta)?\/(messages|models)/.test(path);
  const own: readonly Requirement[] = [{ api_key_of_anthropic: [] }, { api_key_of_google: [] }];
  return isNative ? [...SECURITY.key, ...own] : SECURITY.key;
}

const ERROR = {
  type: 'object',
  description:
    'An error. Routes in the form of Anthropic and Google have more members of their vendor.',
  properties: {
    error: {
      type: 'object',
      properties: {
        message: { type: 'string', description: 'What is wrong.' },
        param: { type: ['string', 'null'], description: 'The parameter that is wrong.' },
        hint: { type: ['string', 'null'], description: 'What to do.' },
      },
      required: ['message'],
    },
  },
  required: ['error'],
};

function pathItems(): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const page of REFERENCE_PAGES) {
    for (const route of page.routes) {
      paths[route.path] ??= {};
      Object.assign(paths[route.path] ?? {}, {
        [route.method.toLowerCase()]: operation(page, route),
      });
    }
  }
  return paths;
}

function operation(page: ReferencePage, route: ReferenceRoute): object {
  const parameters = parametersOf(page, route);
  const outside = parameters.filter(({ in: at }) => at !== 'body');
  return {
    operationId: operationId(route),
    summary: route.says,
    description: `Who may call it: ${callersOf(route)}`,
    tags: [page.slug],
    security: securityOf(route),
    ...(outside.length > 0 ? { parameters: outside.map(parameterOf) } : {}),
    ...bodyOf(route, parameters),
    responses: {
      '200': {
        description: 'The answer.',
        content: { [route.answer ?? 'application/json']: contentOf(route.answer_schema) },
      },
      default: {
        description: 'An error.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  };
}

const contentOf = (schema: TSchema | undefined) => (schema ? { schema: plain(schema) } : {});

/** `GET /v1/tasks/{id}` is `get_v1_tasks_id`. */
const operationId = (route: ReferenceRoute): string =>
  titleOf(route)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');

function parameterOf({ name, in: at, schema, required, says }: Parameter): object {
  return { name, in: at, required, description: says, schema: plain(schema) };
}

function bodyOf(route: ReferenceRoute, parameters: readonly Parameter[]): object {
  const { body, body_types = ['application/json'], body_optional } = route;
  if (!body) return {};
  const says = new Map(
    parameters.filter(({ in: at }) => at === 'body').map((each) => [each.name, each.says]),
  );
  const properties = Object.entries(body.properties).map(([name, schema]) => [
    name,
    { ...plain(schema), description: says.get(name) },
  ]);
  const schema = { ...plain(body), properties: Object.fromEntries(properties) };
  const content = Object.fromEntries(body_types.map((type) => [type, { schema }]));
  return { requestBody: { required: body_optional !== true, content } };
}

/**
 * A schema as JSON Schema: without the words of its errors, which are no member of JSON Schema, and with a
 * list of values as `enum`, which generators of clients turn into a type.
 */
function plain(schema: TSchema): object {
  return JSON.parse(
    JSON.stringify(schema, (name, value: unknown) =>
      name === 'errorMessage' ? undefined : withEnum(value),
    ),
  );
}

interface Choice {
  readonly type?: string;
  readonly const?: unknown;
}

function withEnum(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('anyOf' in value)) return value;
  const { anyOf, ...rest } = value;
  if (!Array.isArray(anyOf)) return value;
  const choices: readonly Choice[] = anyOf;
  if (!choices.every((each) => each.const !== undefined || each.type === 'null')) return value;
  const types = [...new Set(choices.map(({ type }) => type))];
  return {
    ...rest,
    type: types.length === 1 ? types[0] : types,
    enum: choices.map((each) => each.const ?? null),
  };
}
