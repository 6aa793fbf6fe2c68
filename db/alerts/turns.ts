import type { TransactionSql } from 'postgres';

/**
 * Returns true if this transaction shall evaluate a rule: the last evaluation is at least `every_ms` ago, and no other
 * replica evaluates it now. The row stays locked until the transaction ends. If the replica dies, its turn counts as
 * not taken.
 */
export async function takeTurn(
  tx: TransactionSql,
  rule: string,
  every_ms: number,
): Promise<boolean> {
  await tx`
    insert into alert_turn (rule, evaluated_at) values (${rule}, '-infinity') on conflict do nothing`;
  const [due] = await tx`
    select 1 from alert_turn
    where rule = ${rule} and evaluated_at <= weir_now() - ${every_ms} * interval '1 millisecond'
    for update skip locked`;
  if (!due) return false;
  await tx`update alert_turn set evaluated_at = weir_now() where rule = ${rule}`;
  return true;
}
