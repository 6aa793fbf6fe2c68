/** What headers say of the limit of the latest call. A member is missing if they do not say it. */
export interface LatestLimit {
  limit?: number | undefined;
  /** The end of its window, seconds: from now (OpenAI), or since the Unix epoch (Anthropic). */
  reset_s?: number | undefined;
}

/** The headers of a response that belong to its call alone, e.g. its id. */
export interface OwnHeaders {
  /**
   * Sets them. It always sets the same names, so headers that had them of another call have none of it left.
   * With `latest`, what the headers say already is not set again.
   */
  setIn(headers: Headers, latest?: LatestLimit): void;
}

type ResponseBody = ConstructorParameters<typeof Response>[0];

/**
 * Headers that many responses share. A response copies headers, and a header that is added later costs far more than
 * one that is copied. So the own headers of a call are set here, in the place of those of the call before.
 */
export class SharedHeaders {
  private readonly shared: { readonly headers: Headers };
  /** Also with the own headers of the latest call. */
  private complete: { readonly headers: Headers } | undefined;
  private readonly latest: LatestLimit = {};

  constructor(headers: Headers) {
    this.shared = { headers };
  }

  /** Creates a response. Without `own`, whoever sends it adds the own headers. */
  respond(body: ResponseBody, own: OwnHeaders | undefined): Response {
    if (!own) return new Response(body, this.shared);
    this.complete ??= { headers: new Headers(this.shared.headers) };
    own.setIn(this.complete.headers, this.latest);
    return new Response(body, this.complete);
  }
}
