import type { ErrorFamily } from '../errors/render.ts';
import type { Handler } from './endpoint.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** The API whose error format a response has, or how a request tells it. */
export type RouteFamily = ErrorFamily | ((request: Request) => ErrorFamily);

/** A path with its methods and their handlers. */
export interface HttpRoute {
  path: string;
  /** The API whose error format the responses of this path have, or how a request tells it. */
  family: RouteFamily;
  methods: Partial<Record<Method, Handler>>;
  /** The error family of each method that does not use `family`. */
  families?: Partial<Record<Method, RouteFamily>>;
}

/** A path of the error format of OpenAI, with its methods. */
export type PathMethods = [path: string, methods: HttpRoute['methods']];
