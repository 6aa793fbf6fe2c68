import type { QuotaEvent } from '../../machines/quota.ts';
import type { Clock, IdSource } from '../clock.ts';
import type { Lane } from './lane.ts';

/** What each quota actor needs. */
export interface QuotaDeps {
  lane: Lane;
  clock: Clock;
  ids: IdSource;
  replica_id: () => string;
  /** False if this replica's lease may have ended; then no call is admitted. */
  mayAdmit: () => boolean;
  /** Called if the database reports that this replica was declared dead. */
  onFenced: () => void;
  /** Receives each event of each quota machine, with the state after it. Must not throw. */
  onEvent?: (key_id: string, event: QuotaEvent, state: unknown) => void;
}
