import type { TransactionSql } from 'postgres';

/** What would be without its model. */
interface ModelUses {
  /** Unfinished tasks. */
  readonly tasks: number;
  /** The channels that operators made. */
  readonly channels: readonly string[];
  /** Rows with its price or its routing. */
  readonly items: number;
}

/** Returns what uses a model. */
export async function countModelUses(tx: TransactionSql, model: string): Promise<ModelUses> {
  const [uses] = await tx<[ModelUses]>`
    select
      (select count(*)::int4 from task
        where model = ${model} and status in ('pending', 'processing')) as tasks,
      array(select id from channel where models ? ${model} order by id) as channels,
      (select count(*)::int4 from configured_item
        where id = ${model} and kind in ('price', 'routing')) as items`;
  return uses;
}
