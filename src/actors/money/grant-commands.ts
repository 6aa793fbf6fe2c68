import { type GrantRow, type KeyRow, MAX_REAPED_GRANTS } from '../../../db/ledger/rows.ts';
import { decideAmount } from '../../machines/grant.ts';
import type { Books } from './books.ts';
import type { GrantCommand, LedgerAnswer, ReturnCommand } from './ledger-commands.ts';
import type { ShortageExplainer } from './shortage.ts';

/** Applies the commands for grants to the locked rows of one transaction. */
export class GrantCommands {
  constructor(
    private readonly books: Books,
    private readonly shortage: ShortageExplainer,
    private readonly liveReplicas: ReadonlySet<string>,
  ) {}

  async grant(command: GrantCommand): Promise<LedgerAnswer> {
    const { rows } = this.books;
    const key = rows.keys.get(command.key_id);
    if (!key) return { type: 'not_found' };
    const grant = rows.grants.get(command.grant_id) ?? newGrant(command, key.day);
    if (grant.status === 'closed' || !this.liveReplicas.has(command.replica_id)) {
      return { type: 'fenced' };
    }
    this.books.post(grant);
    const isOfToday = grant.day === key.day;
    const ends_in_ms = isOfToday ? key.day_ends_in_ms : 0;
    const isInFlight = command.in_flight || command.for_overrun;
    // Only calls that run get money of a day that has ended.
    if (grant.granted_nano_usd !== command.expected_granted || !(isOfToday || isInFlight)) {
      return this.granted(key, grant, true, ends_in_ms);
    }
    const unusable = command.for_overrun ? undefined : this.books.unusableStatus(key);
    if (unusable) return { type: 'key_unusable', status: unusable };
    const { need, want } = command;
    const decision = decideAmount(
      { need, want: isOfToday ? want : need },
      { ...this.books.fundsOf(key, grant), replicas: this.liveReplicas.size },
    );
    if (decision.type === 'short') {
      return this.shortage.explain(decision, key, { ...command, day: grant.day, tags: grant.tags });
    }
    if (decision.crowded_id !== undefined && need > 0 && !isInFlight) {
      const request = { ...command, day: grant.day, tags: grant.tags };
      const recalled = await this.shortage.relieve(decision.crowded_id, key, request);
      if (recalled) return recalled;
    }
    this.books.setAside(key, grant, decision.amount);
    grant.granted_nano_usd += decision.amount;
    // A grant without money gets no row.
    if (decision.amount > 0) rows.grants.set(grant.id, grant);
    return this.granted(key, grant, decision.exact, ends_in_ms);
  }

  private async granted(
    key: KeyRow,
    grant: GrantRow,
    exact: boolean,
    ends_in_ms: number,
  ): Promise<LedgerAnswer> {
    const { granted_nano_usd: granted } = grant;
    const reached = await this.shortage.reached(key, grant);
    return { type: 'granted', granted, exact, ends_in_ms, ...(reached ? { reached } : {}) };
  }

  return(command: ReturnCommand): LedgerAnswer {
    const { books } = this;
    const grant = books.rows.grants.get(command.grant_id);
    // The sender did not know whether its first request for this grant was committed. There is no
    // row, so the request was not committed.
    if (!grant) return { type: 'returned', granted: 0, closed: true };
    if (grant.status === 'closed') return { type: 'fenced' };
    books.post(grant);
    if (command.recall_acked > grant.recall_acked) {
      grant.recall_acked = command.recall_acked;
      // The call that started the recall waits for this hint, even if no money was returned.
      books.hints.onMoneyFreed(command.organization_id);
    }
    if (grant.granted_nano_usd === command.expected_granted)
      books.shrinkGrant(grant, command.amount);
    // An empty grant is always closed, because its actor may be passivated at any time.
    const mayClose = command.close || grant.granted_nano_usd === 0;
    if (mayClose && grant.granted_nano_usd === grant.settled_nano_usd) grant.status = 'closed';
    return {
      type: 'returned',
      granted: grant.granted_nano_usd,
      closed: grant.status === 'closed',
    };
  }

  /** Closes the open grants of a dead replica. */
  reap(replica_id: string): LedgerAnswer {
    const { books } = this;
    const grants = [...books.rows.grants.values()].filter(
      (grant) => grant.replica_id === replica_id && grant.status === 'open',
    );
    for (const grant of grants) {
      books.post(grant);
      books.shrinkGrant(grant, grant.granted_nano_usd - grant.settled_nano_usd);
      grant.status = 'closed';
    }
    return { type: 'reaped', grants: grants.length, more: grants.length === MAX_REAPED_GRANTS };
  }
}

function newGrant(command: GrantCommand, day: string): GrantRow {
  return {
    id: command.grant_id,
    key_id: command.key_id,
    organization_id: command.organization_id,
    replica_id: command.replica_id,
    status: 'open',
    granted_nano_usd: 0,
    settled_nano_usd: 0,
    posted_nano_usd: 0,
    uncharged_nano_usd: 0,
    uncharged_posted_nano_usd: 0,
    recall_acked: 0,
    day,
    tags: command.tags ?? null,
  };
}
