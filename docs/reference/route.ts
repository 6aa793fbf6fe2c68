import type { TObject, TSchema } from '@sinclair/typebox';

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** Who may call a route. For `organization` and `operator`, the table of actions says it in detail. */
export type Caller =
  | 'key'
  | 'organization'
  | 'operator'
  | 'session'
  | 'anybody'
  | 'link'
  | 'monitor';

/** A header that changes what a route does. */
export type HeaderName =
  | 'anthropic-beta'
  | 'anthropic-version'
  | 'Idempotency-Key'
  | 'If-Match'
  | 'Last-Event-ID'
  | 'Range'
  | 'x-weir-image-response-format'
  | 'x-weir-timeout-ms';

/** A parameter of a path or a query that the route reads without a schema. */
export interface PlainParameter {
  readonly name: string;
  readonly schema: TSchema;
  readonly required?: true;
}

/** One route of Weir, as the reference shows it. */
export interface ReferenceRoute {
  readonly method: Method;
  /** The path with its parameters in braces. */
  readonly path: string;
  /** The path as the app registers it, if it is not `path` with colons. */
  readonly served?: string;
  /** What the route does, in one sentence. */
  readonly says: string;
  readonly caller: Caller;
  /** The schema with which the route validates its query. */
  readonly query?: TObject;
  /** Parameters of the query that the route reads without a schema. */
  readonly plain?: readonly PlainParameter[];
  /** The schema of the body. */
  readonly body?: TObject;
  /** The media types of the body; JSON by default. */
  readonly body_types?: readonly string[];
  /** True if the body may be missing. */
  readonly body_optional?: true;
  readonly headers?: readonly HeaderName[];
  /** The media type of the answer; JSON by default. */
  readonly answer?: string;
  /** The schema of the answer, if the route has one. */
  readonly answer_schema?: TSchema;
  /** What the parameters of this route are, where they differ from the table of words. */
  readonly words?: Readonly<Record<string, string>>;
  /** Where more about the route stands: Markdown, with links that start in `docs/reference/`. */
  readonly more?: string;
}

/** Routes that stand on one page. */
export interface ReferencePage {
  /** The last part of the page's address. */
  readonly slug: string;
  readonly title: string;
  /** What the routes have in common. */
  readonly says: string;
  readonly routes: readonly ReferenceRoute[];
  /** What the parameters of these routes are, by name. */
  readonly words: Readonly<Record<string, string>>;
}

/** `GET /v1/tasks/{id}` */
export const titleOf = ({ method, path }: ReferenceRoute): string => `${method} ${path}`;

/** The names of the parameters of a path, in order. */
export const pathParameters = ({ path }: ReferenceRoute): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');

/** The path as the app registers it. */
export const servedPath = ({ path, served }: ReferenceRoute): string =>
  served ?? path.replace(/\{(\w+)\}/g, ':$1');
