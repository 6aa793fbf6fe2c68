import type { ErrorFamily } from '../errors/render.ts';
import type { LatestLimit, OwnHeaders } from '../inference/shared-headers.ts';
import { type ShownRateLimit, setRateLimit } from './rate-limit-headers.ts';

/** A request that gets a response. */
interface AnsweredRequest extends ShownRateLimit {
  readonly request: Request;
  readonly request_id: string;
}

/** The headers that tell a client the id of its request, and what is left of its limit. */
export class IdsAndLimit implements OwnHeaders {
  /** False if the response lacks them. */
  areSet = false;

  constructor(
    private readonly answered: AnsweredRequest,
    private readonly familyOf: (request: Request) => ErrorFamily,
  ) {}

  setIn(headers: Headers, latest?: LatestLimit): void {
    const { request, request_id, rate_limit } = this.answered;
    // OpenAI's SDK reads `x-request-id`. Anthropic's SDK reads `request-id`.
    headers.set('x-request-id', request_id);
    headers.set('request-id', request_id);
    setRateLimit(headers, rate_limit, this.familyOf(request), latest);
    this.areSet = true;
  }
}
