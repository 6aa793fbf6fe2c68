import { Flight, type FlightCall, type FlightLookup, type Follower } from './flight.ts';

/** The calls of one kind that run and can be followed. */
export class Flights<Member extends Follower<FlightCall>> {
  /** The newest flight of each sketch. Older ones follow as `next`. */
  private readonly bySketch = new Map<number, Flight<Member>>();

  /** Returns the flight of an identical call; undefined if there is none. */
  find(lookup: FlightLookup): Flight<Member> | undefined {
    let flight = this.bySketch.get(lookup.sketch);
    for (; flight; flight = flight.next) {
      if (flight.lookup.organization_id !== lookup.organization_id) continue;
      const digest = flight.lookup.digest();
      if (digest !== null && digest === lookup.digest()) return flight;
    }
    return undefined;
  }

  /** Begins a flight, which identical calls join until it ends. */
  lead(lookup: FlightLookup, leader: Member['call']): Flight<Member> {
    const flight = new Flight<Member>(leader, lookup, this);
    const { sketch } = lookup;
    flight.next = this.bySketch.get(sketch);
    this.bySketch.set(sketch, flight);
    return flight;
  }

  remove(ended: Flight<Member>): void {
    const { sketch } = ended.lookup;
    const first = this.bySketch.get(sketch);
    if (first === ended) {
      if (ended.next) this.bySketch.set(sketch, ended.next);
      else this.bySketch.delete(sketch);
      return;
    }
    for (let flight = first; flight; flight = flight.next) {
      if (flight.next === ended) flight.next = ended.next;
    }
  }
}
