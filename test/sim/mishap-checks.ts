import type { Sql } from 'postgres';
import { findImbalances } from '../../db/ledger/audit.ts';
import { idleOf } from '../../src/machines/quota.ts';
import type { FragileReplica } from './fragile-replica.ts';

interface CheckedWorld {
  readonly sql: Sql;
  readonly replicas: readonly FragileReplica[];
  violate(violation: string): void;
}

interface GrantAmounts {
  id: string;
  status: string;
  granted: number;
  settled: number;
}

/** P16: what each live actor believes is its row, unless a command of the actor is under way. */
export async function checkMemory(world: CheckedWorld): Promise<void> {
  const rows = await world.sql<GrantAmounts[]>`
    select id, status, granted_nano_usd as granted, settled_nano_usd as settled from quota_grant`;
  const by_id = new Map(rows.map((row) => [row.id, row]));
  for (const { name, life, quotas } of world.replicas) {
    for (const actor of quotas.all()) {
      if (idleOf(actor.snapshot.context) < 0) world.violate(`${name} admitted beyond its grant`);
    }
    // A replica that was declared dead learns only later that its grants are closed.
    if (life !== 'alive') continue;
    for (const { grant_id, granted, settled, busy } of quotas.heldByMemory()) {
      const row = by_id.get(grant_id) ?? { status: 'open', granted: 0, settled: 0 };
      if (busy || row.status !== 'open') continue;
      if (row.granted !== granted || row.settled !== settled) {
        const memory = JSON.stringify({ granted, settled });
        world.violate(`${name} believes ${memory}, the row is ${JSON.stringify(row)}`);
      }
    }
  }
}

/** P1, P2, P16: all sums add up, nothing is held, and no cap was exceeded. */
export async function checkBooks(world: CheckedWorld): Promise<void> {
  for (const { what, id, nano_usd } of await findImbalances(world.sql)) {
    world.violate(`${what} of ${id} is off by ${nano_usd}`);
  }
  const held = await world.sql<{ id: string; held: number; used: number; cap: number }[]>`
    select id, held_nano_usd as held, used_nano_usd as used, limit_nano_usd as cap from api_key
    union all select id, held_nano_usd, settled_nano_usd, deposited_nano_usd from organization`;
  for (const row of held) {
    if (row.held !== 0) world.violate(`${row.held} of ${row.id} is still held`);
    if (row.used > row.cap) world.violate(`${row.id} used ${row.used} of ${row.cap}`);
  }
}
