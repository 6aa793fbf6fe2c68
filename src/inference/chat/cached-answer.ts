import type { Lookup } from '../cache/answer-cache.ts';
import type { ChatFollower } from '../cache/chat-flight.ts';
import { findAnswer, findShared, serveHit } from '../cache/chat-hit.ts';
import type { Flights } from '../cache/flights.ts';
import { followFlight } from '../cache/follow.ts';
import { joinFlights } from '../cache/join-flights.ts';
import type { AdmittedChat } from './admitted-chat.ts';

type ChatFlights = Flights<ChatFollower>;

/**
 * Answers a chat call from the cache, or with the answer of an identical call that runs. Undefined, or a
 * promise of it, means that the call must ask an upstream; then others may follow it. Returns a promise only
 * if something must wait.
 */
export function cachedAnswer(
  admitted: AdmittedChat,
  lookup: Lookup,
  flights: ChatFlights,
): Response | Promise<Response | undefined> | undefined {
  const { call, reservation, found } = admitted;
  // While a call waits for money, an answer may be stored or removed.
  const hit = found === 'unknown' ? findAnswer(call, lookup) : found;
  if (hit) return serveHit(call, reservation, hit);
  // Identical calls that run here are faster than a search elsewhere.
  if (lookup.mayLoad && !flights.find(lookup)) return loadAnswer(admitted, lookup, flights);
  return followOrLead(admitted, lookup, flights);
}

async function loadAnswer(
  admitted: AdmittedChat,
  lookup: Lookup,
  flights: ChatFlights,
): Promise<Response | undefined> {
  const { call, reservation } = admitted;
  const hit = await findShared(call, lookup);
  return hit ? serveHit(call, reservation, hit) : followOrLead(admitted, lookup, flights);
}

function followOrLead(
  admitted: AdmittedChat,
  lookup: Lookup,
  flights: ChatFlights,
): Promise<Response | undefined> | undefined {
  if (flights.find(lookup)) return follow(admitted, lookup, flights);
  const leader = leaderOf(admitted, lookup);
  if (leader) admitted.flight = flights.lead(lookup, leader);
  return undefined;
}

async function follow(
  admitted: AdmittedChat,
  lookup: Lookup,
  flights: ChatFlights,
): Promise<Response | undefined> {
  const { call, reservation, budget } = admitted;
  const follower = { call, reservation, budget };
  const leader = leaderOf(admitted, lookup);
  const { answer, flight } = await joinFlights(flights, lookup, leader, (running) =>
    followFlight(running, follower, lookup),
  );
  admitted.flight = flight;
  return answer;
}

/** An answer that little money may cut short is for its call alone. */
function leaderOf({ call, max_output_tokens }: AdmittedChat, { mayBeShared }: Lookup) {
  return max_output_tokens === undefined && mayBeShared ? call : undefined;
}
