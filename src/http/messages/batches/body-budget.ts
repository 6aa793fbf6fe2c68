import { WeirError } from '../../../errors/weir-error.ts';

const RETRY_AFTER_S = 10;

/** Bytes of bodies that are held in memory at the same time, over all requests. */
export class BodyBudget {
  private taken = 0;

  constructor(private readonly most: number) {}

  /**
   * Takes what a request announces, or all there may be where it announces nothing; the returned
   * function gives it back. Throws WeirError (503) where others hold too much. One body always fits.
   */
  take(announced: string | null): () => void {
    const asked = Math.min(announced === null ? this.most : Number(announced) || 0, this.most);
    if (this.taken > 0 && this.taken + asked > this.most) {
      throw new WeirError('service_unavailable', 'Other large batches are being received.', {
        retry_after: RETRY_AFTER_S,
      });
    }
    this.taken += asked;
    return () => {
      this.taken -= asked;
    };
  }
}
