/** The `status` of errors for Gemini clients: Google's canonical codes. */
import { expect, test } from 'bun:test';
import { ERRORS, type ErrorId } from '../../src/errors/registry.ts';
import { renderError } from '../../src/errors/render.ts';
import { WeirError } from '../../src/errors/weir-error.ts';

/** The HTTP status of each code (googleapis: google/rpc/code.proto, "HTTP Mapping"). */
const HTTP_STATUSES: Record<string, number> = {
  CANCELLED: 499,
  UNKNOWN: 500,
  INVALID_ARGUMENT: 400,
  DEADLINE_EXCEEDED: 504,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  PERMISSION_DENIED: 403,
  UNAUTHENTICATED: 401,
  RESOURCE_EXHAUSTED: 429,
  FAILED_PRECONDITION: 400,
  ABORTED: 409,
  OUT_OF_RANGE: 400,
  UNIMPLEMENTED: 501,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DATA_LOSS: 500,
};
/** Statuses that Google's table lacks: the status of their code is the nearest one. */
const NEAREST: Record<number, number> = {
  402: 400,
  405: 400,
  410: 400,
  412: 400,
  413: 400,
  415: 400,
  422: 400,
  502: 500,
};

test.each(Object.keys(ERRORS) as ErrorId[])('%s has the code of its HTTP status', async (id) => {
  const response = renderError(new WeirError(id, 'm'), 'gemini', 'req_1');
  const { error } = (await response.json()) as { error: { code: number; status: string } };
  const { status } = ERRORS[id];
  expect(error.code).toBe(status);
  expect(HTTP_STATUSES[error.status]).toBe(NEAREST[status] ?? status);
});

test('only 503 is UNAVAILABLE, and only 429 is RESOURCE_EXHAUSTED', async () => {
  const found = new Map<string, Set<number>>();
  for (const id of Object.keys(ERRORS) as ErrorId[]) {
    const response = renderError(new WeirError(id, 'm'), 'gemini', 'req_1');
    const { error } = (await response.json()) as { error: { status: string } };
    found.set(error.status, (found.get(error.status) ?? new Set()).add(response.status));
  }
  expect([...(found.get('UNAVAILABLE') ?? [])]).toEqual([503]);
  expect([...(found.get('RESOURCE_EXHAUSTED') ?? [])]).toEqual([429]);
  expect([...(found.get('FAILED_PRECONDITION') ?? [])]).toEqual([402]);
});
