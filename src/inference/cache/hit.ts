import type { CallDetail } from '../../../db/records/record.ts';
import type { SharedHeaders } from '../shared-headers.ts';

/** An earlier answer, or the answer of an identical call that runs. */
export interface Hit {
  readonly entry_id: string;
  readonly age_s: number;
  /** What the answer cost, nano-USD. */
  readonly cost_nano_usd: number;
  /** What was made for a hit on the same entry in the same second, which is the same for this one. */
  made?: {
    whole?: SharedHeaders;
    stream?: SharedHeaders;
    /** The facts of a hit that costs nothing. */
    detail?: CallDetail;
  };
}
