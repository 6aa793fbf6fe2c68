import { isObject } from '../../json/object.ts';
import type { InferenceCall } from '../call.ts';
import type { SharedHeaders } from '../shared-headers.ts';
import type { Lookup } from './answer-cache.ts';
import { answerHeaders, hitHeaders } from './cache-headers.ts';
import type { ChatFlight, ChatFollower } from './chat-flight.ts';
import { type FlightEnd, hitOf } from './flight.ts';
import { FollowerRun } from './follower-run.ts';
import type { KeptAnswer } from './kept-answer.ts';
import { payUnpaid } from './pay-unpaid.ts';
import { readAnswer, renderAnswer } from './read-answer.ts';
import { settleHit } from './settle-hit.ts';

type Answered = Extract<FlightEnd, { state: 'answered' }>;

/**
 * Answers a call from an identical call that runs. A stream follows from the first event. Resolves with
 * undefined if the flight failed: then the call must run on its own. Throws the signal's reason if the
 * client leaves, and the error of the charge.
 */
export async function followFlight(
  flight: ChatFlight,
  follower: ChatFollower,
  lookup: Lookup,
): Promise<Response | undefined> {
  const { call } = follower;
  flight.join(follower);
  let isStreaming = false;
  try {
    while (!flight.end) {
      const pay = flight.takeUnpaid();
      if (pay) {
        const kept = await payUnpaid(flight, follower, lookup, pay);
        return await render(call, kept, answerHeaders(call.protocol, lookup, call.stream));
      }
      if (flight.text !== '' && canFollowEvents(flight.leader, call)) {
        isStreaming = true;
        const run = new FollowerRun(flight, follower);
        return hitHeaders(hitOf(flight, 0), true).respond(run.body(), call.own_headers);
      }
      await flight.changed(call.signal);
    }
    if (flight.end.state !== 'answered') return undefined;
    return await answerWhole(flight, follower, flight.end);
  } finally {
    if (!isStreaming) flight.leave(follower);
  }
}

/** True if a call can have the events of another one as they arrive. */
function canFollowEvents(leader: InferenceCall, { stream, body }: InferenceCall): boolean {
  return leader.stream && stream && wantsUsage(leader.body) === wantsUsage(body);
}

function wantsUsage({ stream_options: options }: Readonly<Record<string, unknown>>): boolean {
  return isObject(options) && options['include_usage'] === true;
}

/** Answers a call with the whole answer of a flight. Undefined if the answer cannot be read. */
async function answerWhole(
  flight: ChatFlight,
  { call, reservation }: ChatFollower,
  { kept }: Answered,
): Promise<Response | undefined> {
  const hit = hitOf(flight, kept.cost_nano_usd);
  if (!readAnswer(call.protocol, kept, true)) return undefined;
  await settleHit(call, call.model.category, reservation, hit);
  return render(call, kept, hitHeaders(hit, call.stream));
}

async function render(
  call: InferenceCall,
  kept: KeptAnswer,
  headers: SharedHeaders,
): Promise<Response> {
  const whole = readAnswer(call.protocol, kept, true);
  if (!whole) throw new Error('the answer of a flight cannot be read');
  const { text, stored } = renderAnswer(call, whole);
  if (stored !== undefined) await call.storeAnswer?.(JSON.parse(stored));
  return headers.respond(text, call.own_headers);
}
