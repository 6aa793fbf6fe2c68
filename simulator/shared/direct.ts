import type { Simulator } from '../exchange.ts';
import { controlledFailure } from './accounts.ts';
import { type Call, newCall, recordedRequest } from './books.ts';
import { DirectiveError, type Directives, directivesIn } from './directives.ts';
import { ProviderError } from './protocol.ts';
import { newId } from './random.ts';
import { connectionReset } from './resets.ts';
import { disconnectsWithin } from './waiting.ts';

/** A provider's errors for direct calls. */
export interface DirectWording {
  readonly protocol: string;
  readonly wrongKey: (key: string) => ProviderError;
  readonly refusal: (
    status: number,
    directives: Pick<Directives, 'quota' | 'retry_after'>,
  ) => ProviderError;
  readonly missing: (model: string) => ProviderError;
  readonly invalid: (message: string) => ProviderError;
  readonly body: (error: ProviderError) => string;
  readonly headers: (id: string) => Record<string, string>;
}

/**
 * A route calls this function after it has read the body: the model, and the text with the directives. The
 * function obeys the directives, e.g. waits. Then it returns the call's entry in the simulator's
 * books.
 */
export type StartCall = (model: string, directives: string, body: unknown) => Promise<Call>;

/**
 * Runs a direct call: checks the key, opens the call's entry in the books, and lets `answer` write
 * the response. Turns thrown errors into the provider's error responses.
 */
export async function answerDirect(
  sim: Simulator,
  request: Request,
  key: string | undefined,
  wording: DirectWording,
  answer: (begin: StartCall) => Promise<Response>,
): Promise<Response> {
  const id = newId('req_');
  let call: Call | undefined;
  try {
    const account = key === undefined ? undefined : sim.accounts.findByKey(key);
    if (!account || account.control.revoked) throw wording.wrongKey(key ?? '');
    if (account.control.down) return connectionReset();
    account.calls += 1;
    call = newCall(id, account.id, wording.protocol);
    const opened = call;
    sim.books.open(opened);
    let lost = false;
    const made = await answer(async (model, text, body) => {
      opened.model = model;
      if (model.startsWith('missing-')) throw wording.missing(model);
      const directives = directivesIn(text, account.id);
      if (directives.record === 1) opened.request = recordedRequest(request, body);
      const waited = directives.latency_ms ?? account.control.latency_ms ?? 0;
      if (
        await disconnectsWithin(
          request.signal,
          directives.hang === 1 ? Number.POSITIVE_INFINITY : waited,
        )
      ) {
        opened.outcome = 'aborted';
        throw new DOMException('left', 'AbortError');
      }
      const status = controlledFailure(account, account.calls) ?? directives.status;
      if (status !== undefined) throw wording.refusal(status, directives);
      lost = directives.lose === 1;
      return opened;
    });
    opened.outcome = lost ? 'lost' : 'whole';
    if (lost) return connectionReset();
    for (const [name, value] of Object.entries(wording.headers(id))) made.headers.set(name, value);
    return made;
  } catch (error) {
    if (call?.outcome === 'running') call.outcome = 'refused';
    if (error instanceof DOMException) return connectionReset();
    const known =
      error instanceof ProviderError
        ? error
        : error instanceof DirectiveError
          ? wording.invalid(`Simulator: ${error.message}`)
          : wording.refusal(500, {});
    const headers = { ...wording.headers(id), 'content-type': 'application/json' };
    const retry =
      known.retry_after === undefined ? {} : { 'retry-after': String(known.retry_after) };
    return new Response(wording.body(known), {
      status: known.status,
      headers: { ...headers, ...retry },
    });
  }
}
