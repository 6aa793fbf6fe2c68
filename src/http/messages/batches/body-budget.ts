import { WeirError } from '../../../errors/weir-error.ts';

const RETRY_AFTER_S = 10;

/** Limits how much memory the bodies of all batch requests use together, bytes. */
export class BodyBudget {
  private reserved_bytes = 0;

  constructor(private readonly max_bytes: number) {}

  /**
   * Reserves the content length of a request, or the whole budget if the request has none. Returns
   * the function that ends the reservation. Throws WeirError (503) if the bodies of other requests
   * leave too few bytes. If no other body has a reservation, every body is accepted.
   */
  reserve(content_length: string | null): () => void {
    const declared = content_length === null ? this.max_bytes : Number(content_length) || 0;
    const bytes = Math.min(declared, this.max_bytes);
    if (this.reserved_bytes > 0 && this.reserved_bytes + bytes > this.max_bytes) {
      const message = 'Weir is receiving other large batches. There is no memory for this one now.';
      throw new WeirError('service_unavailable', message, { retry_after: RETRY_AFTER_S });
    }
    this.reserved_bytes += bytes;
    return () => {
      this.reserved_bytes -= bytes;
    };
  }
}
