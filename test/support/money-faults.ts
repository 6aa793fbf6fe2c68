import type { Sql } from 'postgres';
import { findImbalances } from '../../db/ledger/audit.ts';
import { findOpenGrants, findUnownedMoney } from '../../db/ledger/unowned.ts';
import type { Quotas } from '../../src/actors/money/quotas.ts';
import { compareGrants } from '../../src/actors/money/unowned.ts';

interface FaultsOptions {
  /**
   * Replicas that run in this process, by id. Their memory is compared with their rows. No call may
   * be under way.
   */
  memory?: readonly { replica_id: string; quotas: Pick<Quotas, 'heldByMemory'> }[];
  /** True if the test makes holds without the actors that own them. */
  holds_without_actors?: boolean;
}

/** A sum that does not add up, or money without a living owner. */
export interface MoneyFault {
  what: string;
  id: string;
  nano_usd: number;
}

/**
 * The check after every test of money (P1, P15, P16): the sums add up, every open grant and hold has
 * a living owner, and memory says what the rows say. Must be empty.
 */
export async function findMoneyFaults(
  sql: Sql,
  options: FaultsOptions = {},
): Promise<MoneyFault[]> {
  const faults: MoneyFault[] = [...(await findImbalances(sql))];
  for (const each of await findUnownedMoney(sql)) {
    if (!(options.holds_without_actors && each.what === 'hold without an actor')) faults.push(each);
  }
  for (const { replica_id, quotas } of options.memory ?? []) {
    const before = quotas.heldByMemory();
    const rows = await findOpenGrants(sql, replica_id);
    faults.push(...compareGrants(before, rows, quotas.heldByMemory()));
  }
  return faults.map(({ what, id, nano_usd }) => ({ what, id, nano_usd }));
}
