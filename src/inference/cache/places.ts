import { isSamePlace, type RequestPlace } from './canonical-request.ts';

/**
 * The places of many requests, by numbers. Nearly all are the same one, so it is kept once: nobody searches for others
 * than the newest.
 */
export class Places {
  private readonly places = new Map<number, { readonly place: RequestPlace; uses: number }>();
  /** The number of the newest place. */
  private newest = 0;

  /** Notes that a request has a place. Returns the place's number. */
  take(place: RequestPlace): number {
    const known = this.places.get(this.newest);
    if (known && isSamePlace(known.place, place)) {
      known.uses += 1;
      return this.newest;
    }
    this.newest += 1;
    this.places.set(this.newest, { place, uses: 1 });
    return this.newest;
  }

  get(number: number): RequestPlace | undefined {
    return this.places.get(number)?.place;
  }

  /** Notes that a request less has a place. */
  release(number: number): void {
    const known = this.places.get(number);
    if (!known) return;
    known.uses -= 1;
    if (known.uses === 0) this.places.delete(number);
  }
}
