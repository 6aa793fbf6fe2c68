import { readHeaders, takeBegun } from './begun.ts';
import { ApiError, errorOf, unreachable } from './error.ts';
import { type Query, urlOf } from './url.ts';

/** What a request may carry beside its path. */
export interface RequestOptions {
  readonly query?: Query | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** An answer, with its ETag if it has one (for If-Match). */
export interface Answer<Value> {
  readonly value: Value;
  readonly etag: string | undefined;
}

/** The organization whose data the pages show; it is sent with each request. */
let organization_id: string | undefined;
let onSessionEnded: () => void = () => undefined;

/** Sets the organization of the following requests. */
export function chooseOrganization(id: string | undefined): void {
  organization_id = id;
}

/** Sets what happens when an answer says that the session has ended. */
export function whenSessionEnds(listener: () => void): void {
  onSessionEnded = listener;
}

/** The headers that each request to the API has. */
export function organizationHeaders(): Record<string, string> {
  return organization_id === undefined ? {} : { 'weir-organization': organization_id };
}

/** Sends a request and returns its response. Throws ApiError unless its status is 2xx. */
export async function send(
  method: string,
  path: string,
  { query, body, headers, signal }: RequestOptions = {},
): Promise<Response> {
  const url = urlOf(path, query);
  const isPlainRead = method === 'GET' && headers === undefined;
  const begun = isPlainRead ? takeBegun(url, organization_id) : undefined;
  const asked =
    begun ??
    fetch(url, {
      method,
      headers: {
        ...readHeaders(organization_id),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  const response = await asked.catch((error: unknown) => {
    throw signal?.aborted ? error : unreachable(error);
  });
  if (response.ok) return response;
  const error = await errorOf(response);
  if (error.isSessionEnded) onSessionEnded();
  throw error;
}

async function ask<Value>(method: string, path: string, options?: RequestOptions) {
  const response = await send(method, path, options);
  const value = (await response.json().catch((error: unknown) => {
    throw new ApiError(response.status, 'broken_answer', 'The answer ended early.', {
      hint: `Try again. (${String(error)})`,
    });
  })) as Value;
  return { value, etag: response.headers.get('etag') ?? undefined };
}

/** Weir's API, as every page uses it. Each method throws ApiError. */
export const api = {
  async get<Value>(path: string, query?: Query, signal?: AbortSignal): Promise<Value> {
    return (await ask<Value>('GET', path, { query, signal })).value;
  },
  /** A GET with the ETag of the answer, for a later change with If-Match. */
  getTagged<Value>(path: string, query?: Query, signal?: AbortSignal): Promise<Answer<Value>> {
    return ask<Value>('GET', path, { query, signal });
  },
  async post<Value>(path: string, body: unknown = {}, headers?: Record<string, string>) {
    return (await ask<Value>('POST', path, { body, headers })).value;
  },
  /** Changes what still has the ETag, and fails with 412 otherwise. */
  async patch<Value>(path: string, body: unknown, etag?: string): Promise<Value> {
    return (await api.patchTagged<Value>(path, body, etag)).value;
  },
  /** The same, with the ETag of the changed thing. */
  patchTagged<Value>(path: string, body: unknown, etag?: string): Promise<Answer<Value>> {
    const headers = etag === undefined ? {} : { 'if-match': etag };
    return ask<Value>('PATCH', path, { body, headers });
  },
  async delete<Value>(path: string): Promise<Value> {
    return (await ask<Value>('DELETE', path)).value;
  },
};
