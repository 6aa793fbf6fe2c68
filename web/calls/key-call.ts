import { send } from '../api/client.ts';
import { ApiError } from '../api/error.ts';

/** A call that a person makes with the session, paid by an API key whose secret no page knows. */
export interface KeyCall {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  /** The id of the API key. */
  readonly key_id: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Sends a call with the session and the id of a key. Throws ApiError, or the signal's reason. */
export function sendWithKey(call: KeyCall): Promise<Response> {
  const { method = 'POST', path, body, key_id, headers, signal } = call;
  return send(method, path, { body, signal, headers: { ...headers, 'weir-key': key_id } });
}

/** The id of the request that an answer belongs to. */
export const requestIdOf = (answer: Response): string | undefined =>
  answer.headers.get('x-request-id') ?? undefined;

/** Returns the error of an event or a body that names one; undefined for any other value. */
export function errorIn(value: unknown, request_id: string | undefined): ApiError | undefined {
  const error = isObject(value) ? value['error'] : undefined;
  if (!isObject(error)) return undefined;
  const text = (name: string) => (typeof error[name] === 'string' ? error[name] : undefined);
  return new ApiError(200, text('code') ?? 'unknown', text('message') ?? 'The call failed.', {
    hint: text('hint'),
    param: text('param'),
    request_id: text('request_id') ?? request_id,
  });
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
