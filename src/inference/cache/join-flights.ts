import type { Flight, FlightCall, FlightLookup, Follower } from './flight.ts';
import type { Flights } from './flights.ts';

/** A call waits for the answers of at most this many identical calls that fail. */
const MAX_FAILED_FLIGHTS = 2;

/** What became of a call that followed others. */
interface Joined<Member extends Follower<FlightCall>, Answer> {
  /** Undefined if the call must run itself. */
  readonly answer?: Answer;
  /** The flight that the call began, which identical calls follow. */
  readonly flight?: Flight<Member>;
}

/**
 * Follows the identical call that runs. If it fails, its followers try once more, together: the first of
 * them begins a flight as `leader`, and the others follow it. So a sick upstream gets two calls of a
 * herd, and a hiccup of the upstream costs one client. If the second flight fails too, its followers get
 * its error. `follow` resolves with undefined if a flight failed. Without `leader`, no call may follow.
 */
export async function joinFlights<Member extends Follower<FlightCall>, Answer>(
  flights: Flights<Member>,
  lookup: FlightLookup,
  leader: Member['call'] | undefined,
  follow: (flight: Flight<Member>) => Promise<Answer | undefined>,
): Promise<Joined<Member, Answer>> {
  let failed = 0;
  for (let flight = flights.find(lookup); flight; flight = flights.find(lookup)) {
    const answer = await follow(flight);
    if (answer !== undefined) return { answer };
    failed += 1;
    if (failed < MAX_FAILED_FLIGHTS) continue;
    // An error of the first call's own, e.g. of its charge, is not shared.
    if (flight.end?.state === 'failed' && flight.end.error !== undefined) throw flight.end.error;
    return {};
  }
  // Without a pause since the last search, or two followers would begin a flight.
  return leader ? { flight: flights.lead(lookup, leader) } : {};
}
