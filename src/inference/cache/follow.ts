import { isObject } from '../../json/object.ts';
import { answerIdOf, type InferenceCall, settleCall } from '../call.ts';
import type { Lookup } from './answer-cache.ts';
import { hitHeaders } from './cache-headers.ts';
import { type Flight, type FlightEnd, type Follower, hitOf, type UnpaidAnswer } from './flight.ts';
import { FollowerRun } from './follower-run.ts';
import type { KeptAnswer } from './kept-answer.ts';
import { readAnswer, renderStream, renderWhole } from './read-answer.ts';
import { settleHit } from './settle-hit.ts';

type Answered = Extract<FlightEnd, { state: 'answered' }>;

/**
 * Answers a call from an identical call that runs. A stream follows from the first event. Resolves with
 * undefined if the flight failed: then the call must run on its own. Throws the signal's reason if the
 * client leaves, and the error of the charge.
 */
export async function followFlight(
  flight: Flight,
  follower: Follower,
  lookup: Lookup,
): Promise<Response | undefined> {
  const { call } = follower;
  flight.join(follower);
  let isStreaming = false;
  try {
    while (!flight.end) {
      const pay = flight.takeUnpaid();
      if (pay) return await payAnswer(flight, follower, lookup, pay);
      if (flight.text !== '' && canFollowEvents(flight.leader, call)) {
        isStreaming = true;
        const run = new FollowerRun(flight, follower);
        return new Response(run.body(), hitHeaders(hitOf(flight, 0), true));
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

/** Pays an answer whose first client has left, and lets the others have it. */
async function payAnswer(
  flight: Flight,
  { call, reservation }: Follower,
  lookup: Lookup,
  { text, draft }: UnpaidAnswer,
): Promise<Response> {
  try {
    const { charged, overrun } = await settleCall(call, reservation, draft, 'completed');
    if (call.record) call.record.isCharged = true;
    const { usage } = draft;
    const kept = { text, is_stream: false, usage, cost_nano_usd: charged + overrun };
    lookup.keep(kept);
    flight.finish({ state: 'answered', kept, rest: '' });
    return await render(call, kept, { 'x-weir-cache': 'miss' });
  } catch (error) {
    flight.finish({ state: 'failed' });
    throw error;
  }
}

/** Answers a call with the whole answer of a flight. Undefined if the answer cannot be read. */
async function answerWhole(
  flight: Flight,
  { call, reservation }: Follower,
  { kept }: Answered,
): Promise<Response | undefined> {
  const hit = hitOf(flight, kept.cost_nano_usd);
  if (!readAnswer(call.protocol, kept, true)) return undefined;
  await settleHit(call, call.model.category, reservation, hit);
  return render(call, kept, Object.fromEntries(hitHeaders(hit, call.stream).headers));
}

async function render(
  call: InferenceCall,
  kept: KeptAnswer,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  const whole = readAnswer(call.protocol, kept, true);
  if (!whole) throw new Error('the answer of a flight cannot be read');
  const { protocol, body, stream } = call;
  const replayed = { protocol, body, answer_id: answerIdOf(call) };
  const text = renderWhole(replayed, whole);
  if (call.storeAnswer) await call.storeAnswer(JSON.parse(text));
  const type = stream ? 'text/event-stream; charset=utf-8' : 'application/json';
  return new Response(stream ? renderStream(replayed, text) : text, {
    headers: { 'content-type': type, ...headers },
  });
}
