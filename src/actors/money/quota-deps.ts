import type { QuotaEvent } from '../../machines/quota.ts';
import type { Clock, IdSource } from '../clock.ts';
import type { BudgetedTags } from './budgeted-tags.ts';
import type { Lane } from './lane.ts';
import type { QuotaMachine } from './quota-machine.ts';

/** What observers of a quota actor see of it. */
interface ObservedQuota {
  /** The id of its key; with a suffix if its calls have budgeted tags. */
  readonly name: string;
  readonly organization_id: string;
  readonly machine: Pick<QuotaMachine, 'ring' | 'last'>;
}

/** What each quota actor needs. */
export interface QuotaDeps {
  lane: Lane;
  clock: Clock;
  ids: IdSource;
  replica_id: () => string;
  /** The tags that budgets limit. Without it, no tag has a budget. */
  budgeted?: Pick<BudgetedTags, 'of'>;
  /** False if this replica's lease may have ended; then no call is admitted. */
  mayAdmit: () => boolean;
  /** Called if the database reports that this replica was declared dead. */
  onFenced: () => void;
  /** The most events that each actor keeps; default: `RING_EVENTS`. */
  ring_events?: number;
  /** Called after each event of each quota machine. Must not throw. */
  onEvent?: (actor: ObservedQuota, event: QuotaEvent, taken: boolean) => void;
}
