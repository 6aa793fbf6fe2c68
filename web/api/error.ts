/** An error of Weir's API, as its envelope says it (docs/errors). */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: {
      readonly hint?: string | undefined;
      readonly param?: string | undefined;
      readonly request_id?: string | undefined;
      /** Seconds after which the request may succeed. */
      readonly retry_after?: number | undefined;
    } = {},
  ) {
    super(message);
  }

  /**
   * True if the session ended, so that the person must sign in again. After a sign-out in another tab there is no
   * cookie any more, and the API takes the request for one without a key.
   */
  get isSessionEnded(): boolean {
    return this.code === 'session_ended' || this.code === 'invalid_api_key';
  }
}

/** Returns the error of a response that failed. Never throws: a proxy may answer with any text. */
export async function errorOf(response: Response): Promise<ApiError> {
  const request_id = response.headers.get('x-request-id') ?? undefined;
  const retry = Number(response.headers.get('retry-after') ?? 'none');
  const retry_after = Number.isFinite(retry) ? retry : undefined;
  const text = await response.text().catch(() => '');
  const error = envelopeOf(text);
  const message = textOf(error['message']) ?? `The server answered ${response.status}.`;
  return new ApiError(response.status, textOf(error['code']) ?? 'unknown', message, {
    hint: textOf(error['hint']),
    param: textOf(error['param']),
    request_id: textOf(error['request_id']) ?? request_id,
    retry_after,
  });
}

/** Returns the error of a request that got no answer. */
export function unreachable(cause: unknown): ApiError {
  const error = new ApiError(0, 'unreachable', 'Weir cannot be reached.', {
    hint: 'Check the connection. The page goes on by itself when Weir is back.',
  });
  error.cause = cause;
  return error;
}

function envelopeOf(text: string): Record<string, unknown> {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    return typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
