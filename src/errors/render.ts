import { publicCode } from './registry.ts';
import { WeirError } from './weir-error.ts';

/** The format of a route's error envelope (spec: Errors). */
export type ErrorFamily = 'openai' | 'native' | 'gemini';

/** The most characters of a parameter's name in an error. The name may come from the client. */
const MAX_PARAM_CHARS = 200;

/**
 * Returns the response for an error. An error that is not a WeirError becomes a 500 without any
 * details of the error.
 */
export function renderError(error: unknown, family: ErrorFamily, request_id: string): Response {
  const weirError =
    error instanceof WeirError
      ? error
      : new WeirError('internal_error', 'Something went wrong on our side.', {
          hint: `Retry. If the error occurs again, report the request id ${request_id}.`,
        });
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    // Without this header, the SDKs retry every 5xx, even errors with `retryable: false`.
    'x-should-retry': String(weirError.retryable),
  };
  const { retry_after } = weirError.details;
  if (retry_after !== undefined) headers['retry-after'] = String(retry_after);
  const body = errorBody(weirError, family, request_id);
  return new Response(JSON.stringify(body), { status: weirError.entry.status, headers });
}

/** The envelope of an error. A native envelope has more members beside `error`. */
interface ErrorBody {
  readonly error: object;
  readonly [member: string]: unknown;
}

/** Returns the envelope of an error, e.g. for an event of a stream or for one item of a batch. */
export function errorBody(error: WeirError, family: ErrorFamily, request_id: string): ErrorBody {
  return BODIES[family](error, request_id);
}

const BODIES: Record<ErrorFamily, (error: WeirError, request_id: string) => ErrorBody> = {
  openai: openaiBody,
  native: nativeBody,
  gemini: geminiBody,
};

/**
 * The values of `status` that Google's SDKs read, by HTTP status (googleapis: google/rpc/code.proto).
 * Google has no code for a payment. 402 is FAILED_PRECONDITION, with which the Gemini API asks for
 * billing. RESOURCE_EXHAUSTED would make clients retry. All other 4xx are INVALID_ARGUMENT: they do
 * not depend on the state of the system. All other 5xx are INTERNAL; only 503 is UNAVAILABLE.
 */
const GOOGLE_STATUSES: Record<number, string> = {
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

function geminiBody(error: WeirError, request_id: string): ErrorBody {
  const { status } = error.entry;
  const reason = publicCode(error.id);
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, request_id };
  const members = membersOf(error);
  return {
    error: {
      code: status,
      message: error.message,
      status: GOOGLE_STATUSES[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL'),
      details: [{ ...info, ...members }],
    },
  };
}

function openaiBody(error: WeirError): ErrorBody {
  return {
    error: {
      message: error.message,
      type: error.entry.type,
      code: publicCode(error.id),
      ...membersOf(error),
    },
  };
}

/**
 * Returns the native envelope (Anthropic docs: Errors). The envelope has additional members that
 * Anthropic's errors lack, e.g. `code` and `param`.
 */
function nativeBody(error: WeirError, request_id: string): ErrorBody {
  return {
    type: 'error',
    error: {
      type: error.entry.nativeType,
      message: error.message,
      code: publicCode(error.id),
      ...membersOf(error),
      ...(error.details.details === undefined ? {} : { details: error.details.details }),
    },
    request_id,
  };
}

/** Returns the optional members of the envelope. `param` is always present (spec: Errors). */
function membersOf(error: WeirError): object {
  const { param, details, ...others } = error.details;
  // For a client error (4xx), `retryable: false` is shown only if `details` sets it.
  const showsRetryable =
    error.retryable || error.details.retryable !== undefined || error.entry.status >= 500;
  return {
    param: param?.slice(0, MAX_PARAM_CHARS) ?? null,
    ...others,
    ...(showsRetryable ? { retryable: error.retryable } : {}),
  };
}
