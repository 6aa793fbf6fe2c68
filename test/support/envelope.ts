/**
 * The error envelopes of the specification, checked as a client sees them.
 */
import { expect } from 'bun:test';

export interface ErrorBody {
  message: string;
  type: string;
  code: string;
  param: string | null;
  did_you_mean?: string;
  suggestions?: { id: string }[];
  hint?: string;
  retryable?: boolean;
  retry_after?: number;
  fault?: string;
  provider_message?: string;
  provider_status?: number;
}

/** Text that clients must never see: a stack, a file, a query, a driver's message. */
const INSIDE =
  /\bat (async )?\S+ \(|\.ts:\d|node_modules|select .* from|postgres|drizzle|SQLSTATE/i;

/** The error of a response. Checks status, envelope and headers. */
export async function errorOf(response: Response, status: number): Promise<ErrorBody> {
  const text = await response.text();
  expect({ status: response.status, text }).toEqual({ status, text });
  return checkEnvelope(response, text);
}

/** Like `errorOf`, for the error envelope of the `/v1/messages` routes. */
export async function nativeErrorOf(response: Response, status: number): Promise<ErrorBody> {
  const text = await response.text();
  const error = await errorOf(new Response(text, response), status);
  const body = JSON.parse(text);
  expect(body.type).toBe('error');
  expect(body.request_id).toBe(response.headers.get('request-id'));
  return error;
}

function checkEnvelope(response: Response, text: string): ErrorBody {
  expect(response.headers.get('content-type')).toStartWith('application/json');
  expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
  expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'));
  expect(text).not.toMatch(INSIDE);
  const { error } = JSON.parse(text) as { error: ErrorBody };
  for (const field of [error.message, error.type, error.code]) {
    expect(field).toBeString();
    expect(field).not.toBe('');
  }
  expect(error).toHaveProperty('param');
  const retry = response.headers.get('retry-after');
  expect(retry).toBe(error.retry_after === undefined ? null : String(error.retry_after));
  const retryable = error.retryable ?? false;
  expect(response.headers.get('x-should-retry')).toBe(String(retryable));
  return error;
}
