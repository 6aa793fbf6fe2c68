/** A lane on its own database, with accounts and a check of their sums. */
import { expect } from 'bun:test';
import { connectDatabase, type Database } from '../../db/client.ts';
import type { UsageLine } from '../../db/ledger/usage-line.ts';
import { systemClock, systemIdSource } from '../../src/actors/clock.ts';
import { Lane } from '../../src/actors/money/lane.ts';
import type { LedgerCommand } from '../../src/actors/money/ledger-commands.ts';
import type { MoneyHintPublisher, MoneyHints } from '../../src/actors/money/money-hints.ts';
import { findMoneyFaults } from './money-faults.ts';
import { createTestDatabase } from './postgres.ts';

/** Deposit of each account, in nano-USD. */
export const FUNDS = 1_000;

export interface Account {
  readonly key_id: string;
  readonly organization_id: string;
  readonly replica_id: string;
}

export type TestLedger = Awaited<ReturnType<typeof openLedger>>;

export async function openLedger(pool: 'lane' | 'single' = 'lane') {
  const fresh = await createTestDatabase();
  const database: Database = connectDatabase(fresh.url, { pool });
  const hints: MoneyHints[] = [];
  const recorder: MoneyHintPublisher = {
    publish: (each) => void hints.push(each),
    publishUnknown: () => undefined,
  };
  const lane = new Lane({
    sql: database.sql,
    clock: systemClock,
    hints: recorder,
    onError: () => undefined,
  });

  /** An organization with 1,000 nano-USD, one key with a cap, one live replica. */
  async function account(limit: number | null = null): Promise<Account> {
    const id = crypto.randomUUID();
    const names = {
      key_id: `key_${id}`,
      organization_id: `org_${id}`,
      replica_id: `replica_${id}`,
    };
    const { sql } = database;
    await sql`insert into organization (id, name) values (${names.organization_id}, 'test')`;
    await sql`insert into api_key
      (id, organization_id, name, key_hash, key_prefix, limit_nano_usd, ceiling_nano_usd)
      values (${names.key_id}, ${names.organization_id}, 'test', ${id}, 'sk-', ${limit}, ${limit})`;
    await sql`insert into replica (id, lease_until) values (${names.replica_id}, now() + interval '1 h')`;
    await lane.submit({
      type: 'DEPOSIT',
      deposit_id: systemIdSource.uuid(),
      organization_id: names.organization_id,
      amount: FUNDS,
      note: '',
    });
    return names;
  }

  /** The amounts of key and organization. Checks that the rows agree. */
  async function books({ key_id, organization_id }: Account) {
    const [row] = await database.sql<
      { balance: number; org_held: number; settled: number; used: number; key_held: number }[]
    >`select balance_nano_usd as balance, organization.held_nano_usd as org_held,
        settled_nano_usd as settled, used_nano_usd as used, api_key.held_nano_usd as key_held
      from organization, api_key where organization.id = ${organization_id} and api_key.id = ${key_id}`;
    expect(await findMoneyFaults(database.sql, { holds_without_actors: true })).toEqual([]);
    return { ...row };
  }

  return {
    /** The hints that the lane published, in the order of its commits. */
    hints,
    url: fresh.url,
    ...{ database, lane, account, books },
    async close() {
      await database.close();
      await fresh.drop();
    },
  };
}

/** A command that creates a hold. */
export function hold(
  of: Account,
  amount: number,
  hold_id: string = systemIdSource.uuid(),
): LedgerCommand {
  const { key_id, organization_id } = of;
  const expires_at = '2100-01-01T00:00:00Z';
  return {
    type: 'HOLD',
    hold_id,
    key_id,
    organization_id,
    amount,
    reference: 'task',
    expires_at,
  };
}

/** A usage line of a task with a charge; its other values are arbitrary. */
export function line(of: Account, charged: number): UsageLine {
  return {
    id: systemIdSource.uuid(),
    request_id: systemIdSource.uuid(),
    organization_id: of.organization_id,
    key_id: of.key_id,
    scene: 'video',
    access_channel: 'platform',
    model: 'm',
    model_vendor: 'v',
    channel_id: 'c',
    outcome: 'completed',
    input_tokens: 0,
    cached_input_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 0,
    estimated: false,
    charged_nano_usd: charged,
    overrun_nano_usd: 0,
  };
}

/** A command that requests a grant of exactly `need`. */
export function grant(of: Account, need: number, grant_id: string = systemIdSource.uuid()) {
  return {
    type: 'GRANT' as const,
    ...of,
    grant_id,
    expected_granted: 0,
    need,
    want: need,
    recall_seq: null,
  };
}
