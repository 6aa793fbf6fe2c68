import type { Sql, TransactionSql } from 'postgres';
import { appendAudit } from '../../../db/audit/log.ts';
import { lockRules, purgeEntries, removeEntry } from '../../../db/cache/rules.ts';
import {
  type CacheVote,
  castVote,
  findCacheEntry,
  findServedKeys,
} from '../../../db/cache/votes.ts';
import type { Manager } from '../../access/manager.ts';
import type { Clock } from '../../actors/clock.ts';
import { entryIdOf } from './entry.ts';

/** A replica writes the records of its calls within this time. */
const RECORDS_WAIT_MS = 300;

export interface CacheChangesDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  /** The longest life of an entry, ms. */
  readonly max_age_ms: () => number;
  /** Writes the records of the calls that this replica ended. */
  readonly writeRecords: () => Promise<void>;
  /** Tells all replicas that the rules of an organization changed. Resolves when this one obeys them. */
  readonly announce: (organization_id: string) => Promise<void>;
  /** Removes what replicas share of an organization. It is useless already, and only takes memory. */
  readonly clearShared: (organization_id: string) => void;
}

/** Which entries are purged. Without a member: all entries of the organization. */
export interface PurgeFilter {
  readonly model_id?: string | undefined;
  /** A request of the entry, as a UUID. */
  readonly request_id?: string | undefined;
}

/** Removes stored answers: by votes of keys, and by purges of an organization's admins. */
export class CacheChanges {
  constructor(private readonly deps: CacheChangesDeps) {}

  /**
   * Takes a vote on the entry that `request_id` made, or was answered from. Returns the entry, and whether
   * it is removed; undefined if the organization has no such call.
   */
  async vote({
    request_id,
    ...vote
  }: Omit<CacheVote, 'entry_id'> & { readonly request_id: string }): Promise<
    { readonly entry_id: string; readonly isRemoved: boolean } | undefined
  > {
    const { sql } = this.deps;
    const { organization_id, key_id } = vote;
    const keep_ms = this.deps.max_age_ms();
    const entry_id = await this.findVoted(organization_id, key_id, request_id, keep_ms);
    if (entry_id === undefined) return undefined;
    const isRemoved = await sql.begin(async (tx) => {
      await lockRules(tx, organization_id);
      return castVote(tx, { ...vote, entry_id }, keep_ms);
    });
    if (isRemoved) await this.deps.announce(organization_id);
    return { entry_id, isRemoved };
  }

  /**
   * Purges entries of the organization of a manager, and puts that on record. Returns false if the
   * organization has no call that `request_id` names. After the commit, the caller must call `spread`.
   */
  async purge(
    tx: TransactionSql,
    { organization_id, actor }: Manager,
    { model_id, request_id }: PurgeFilter,
  ): Promise<boolean> {
    const keep_ms = this.deps.max_age_ms();
    await lockRules(tx, organization_id);
    let cache_entry_id: string | null = null;
    if (request_id === undefined) {
      await purgeEntries(tx, organization_id, model_id ?? null);
    } else {
      const entry_id = await findCacheEntry(tx, organization_id, request_id, keep_ms);
      if (entry_id === undefined) return false;
      await removeEntry(tx, organization_id, entry_id, keep_ms);
      cache_entry_id = entryIdOf(entry_id);
    }
    await appendAudit(tx, {
      ...{ organization_id, actor, action: 'cache.purge', subject_id: organization_id },
      ...{ before: null, after: { model: model_id ?? null, cache_entry_id } },
    });
    return true;
  }

  /** Tells all replicas that the organization purged entries. Resolves when this one obeys. */
  async spread(organization_id: string, { model_id, request_id }: PurgeFilter): Promise<void> {
    await this.deps.announce(organization_id);
    if (model_id === undefined && request_id === undefined) this.deps.clearShared(organization_id);
  }

  /**
   * Returns the entry of a vote. If the call is not on record yet, or the voter is not known to have got
   * the answer, looks once more when all replicas have written their records.
   */
  private async findVoted(
    organization_id: string,
    key_id: string,
    request_id: string,
    keep_ms: number,
  ): Promise<string | undefined> {
    const { sql, clock, writeRecords } = this.deps;
    await writeRecords();
    const entry_id = await findCacheEntry(sql, organization_id, request_id, keep_ms);
    if (entry_id !== undefined) {
      const served = await findServedKeys(sql, organization_id, entry_id);
      if (served.has(key_id)) return entry_id;
    }
    await new Promise<void>((resolve) => clock.after(RECORDS_WAIT_MS, resolve));
    return findCacheEntry(sql, organization_id, request_id, keep_ms);
  }
}
