import type { Reservation } from '../../src/actors/money/reservation.ts';
import type { FragileReplica } from './fragile-replica.ts';

/** A call of a schedule, as its client and the test know it. Amounts in nano-USD. */
export interface FragileCall {
  readonly name: string;
  readonly key_id: string;
  readonly replica: FragileReplica;
  /** The id of the usage line; two calls may share it, as two runs of a batch item do. */
  readonly line_id: string;
  readonly amount: number;
  /** What the call costs. It may exceed the reservation. */
  readonly actual: number;
  state: 'waiting' | 'running' | 'settling' | 'settled' | 'lost' | 'ended';
  reservation?: Reservation;
  /** Id of the replica at the admission. After a change, the grant may be closed. */
  admitted_as?: string;
  /** Aborts when the client leaves. */
  readonly client: AbortController;
  charged: number;
  /** The least free money from the begin of the charge to its end, by the test's own books. */
  least_free: number;
  /** True if a mishap during the charge may have made money unreachable. */
  was_disturbed: boolean;
}

/** A durable hold of a schedule. */
export interface FragileHold {
  readonly id: string;
  readonly key_id: string;
  amount: number;
  /** What the work costs. It may exceed the hold. */
  readonly cost: number;
  state: 'asked' | 'held' | 'ending' | 'settled' | 'ended';
  charged: number;
  /** The replica that got the last command. */
  replica: FragileReplica;
  /** The command that ends it, once it is chosen. It is repeated until it is answered. */
  end?: 'SETTLE_HOLD' | 'RELEASE_HOLD' | 'EXPIRE_HOLD';
}

/** The test's own books of one organization: its balance, and the caps of its keys. */
export class OwnBooks {
  readonly calls: FragileCall[] = [];
  readonly holds: FragileHold[] = [];

  constructor(
    private readonly deposited: number,
    private readonly caps: ReadonlyMap<string, number>,
  ) {}

  /** What is neither charged nor in use inside the cap of the key and the balance. */
  freeOf(key_id: string): number {
    const cap = this.caps.get(key_id) ?? Number.MAX_SAFE_INTEGER;
    return Math.min(cap - this.usedBy(key_id), this.deposited - this.usedBy(undefined));
  }

  /** Lowers `least_free` of every charge that is under way. */
  observe(isDisturbed: boolean): void {
    for (const call of this.calls) {
      if (call.state !== 'settling') continue;
      const free = this.freeOf(call.key_id) + overrunOf(call);
      call.least_free = Math.min(call.least_free, free);
      call.was_disturbed ||= isDisturbed;
    }
  }

  private usedBy(key_id: string | undefined): number {
    const lines = new Map<string, number>();
    let used = 0;
    for (const call of this.calls) {
      if (key_id !== undefined && call.key_id !== key_id) continue;
      const reserved = call.reservation?.amount ?? 0;
      if (call.state === 'lost') used += Math.max(reserved, call.actual);
      else if (call.state === 'settled') lines.set(call.line_id, call.charged);
      else if (call.state === 'running') used += reserved;
      else if (call.state === 'settling') used += reserved + overrunOf(call);
    }
    for (const hold of this.holds) {
      if (key_id !== undefined && hold.key_id !== key_id) continue;
      if (hold.state === 'settled') used += hold.charged;
      else if (hold.state !== 'ended') used += Math.max(hold.amount, hold.cost);
    }
    return [...lines.values()].reduce((sum, charged) => sum + charged, used);
  }
}

/** What the charge of a call takes from the free money, at most. */
export function overrunOf(call: FragileCall): number {
  return Math.max(0, call.actual - (call.reservation?.amount ?? 0));
}
