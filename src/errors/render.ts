import { publicCode } from './registry.ts';
import { WeirError } from './weir-error.ts';

/** Which envelope a route's clients read (spec: Errors). */
export type ErrorFamily = 'openai' | 'native' | 'gemini';

/** The name of a parameter may come from the client: it is not echoed at any length. */
const MAX_PARAM_CHARS = 200;

/** Renders an error for a client. What is no WeirError is ours: 500, and nothing of it is said. */
export function renderError(error: unknown, family: ErrorFamily, request_id: string): Response {
  const known =
    error instanceof WeirError
      ? error
      : new WeirError('internal_error', 'Something went wrong on our side.', {
          hint: `Retry; if it stays, report the request id ${request_id}.`,
        });
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    // The SDKs retry every 5xx unless told not to; this says what `retryable` says.
    'x-should-retry': String(known.retryable),
  };
  const { retry_after } = known.details;
  if (retry_after !== undefined) headers['retry-after'] = String(retry_after);
  const body = BODIES[family](known, request_id);
  return new Response(JSON.stringify(body), { status: known.entry.status, headers });
}

const BODIES: Record<ErrorFamily, (error: WeirError, request_id: string) => object> = {
  openai: openaiBody,
  native: nativeBody,
  gemini: geminiBody,
};

/** What Google's SDKs read (Google Cloud docs: Errors, google.rpc.Code). */
const GOOGLE_STATUSES: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'RESOURCE_EXHAUSTED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

function geminiBody(error: WeirError, request_id: string): object {
  const { status } = error.entry;
  const reason = publicCode(error.id);
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, request_id };
  return {
    error: {
      code: status,
      message: error.message,
      status: GOOGLE_STATUSES[status] ?? (status < 500 ? 'FAILED_PRECONDITION' : 'INTERNAL'),
      details: [{ ...info, ...details(error) }],
    },
  };
}

function openaiBody(error: WeirError): object {
  return {
    error: {
      message: error.message,
      type: error.entry.type,
      code: publicCode(error.id),
      ...details(error),
    },
  };
}

/** An error where no HTTP answer carries it, e.g. in the results of a batch. */
export function nativeEnvelope(error: WeirError, request_id: string): object {
  return nativeBody(error, request_id);
}

/** Anthropic docs: Errors. What the native family has no word for stays readable in `details`. */
function nativeBody(error: WeirError, request_id: string): object {
  return {
    type: 'error',
    error: {
      type: error.entry.nativeType,
      message: error.message,
      code: publicCode(error.id),
      ...details(error),
    },
    request_id,
  };
}

/** The optional members; `param` is always a key (spec: Errors). */
function details(error: WeirError): object {
  const { param, ...others } = error.details;
  // A plain 400 needs no word about retrying.
  const said =
    error.retryable || error.details.retryable !== undefined || error.entry.status >= 500;
  return {
    param: param?.slice(0, MAX_PARAM_CHARS) ?? null,
    ...others,
    ...(said ? { retryable: error.retryable } : {}),
  };
}
