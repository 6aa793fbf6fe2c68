import type { Sql, TransactionSql } from 'postgres';

/** What operators configure beside channels. A `preset` is the model of calls that name no model. */
export const ITEM_KINDS = ['model', 'price', 'routing', 'preset'] as const;
export type ItemKind = (typeof ITEM_KINDS)[number];

/** The members that an operator set. Which ones depends on the kind. */
export type ItemValue = Readonly<Record<string, unknown>>;

/** An item that an operator configured. */
export interface ConfiguredItem {
  readonly kind: ItemKind;
  /** The model; of a preset the scene. */
  readonly id: string;
  readonly value: ItemValue;
}

/** The row of an item. */
export interface ItemRow extends ConfiguredItem {
  readonly created_at: Date;
  readonly changed_at: Date;
}

/** Returns all items that operators configured, the oldest first. */
export async function readConfiguredItems(sql: Sql | TransactionSql): Promise<ItemRow[]> {
  return sql<ItemRow[]>`select * from configured_item order by created_at, kind, id`;
}

/** Returns the row of an item; undefined if there is none. */
export async function findConfiguredItem(
  sql: Sql | TransactionSql,
  kind: ItemKind,
  id: string,
): Promise<ItemRow | undefined> {
  const [row] = await sql<ItemRow[]>`
    select * from configured_item where kind = ${kind} and id = ${id}`;
  return row;
}

/**
 * Locks all items until the end of the transaction. A new item may depend on others, e.g. a price on its
 * model, so changes run one after the other.
 */
export async function lockItems(tx: TransactionSql): Promise<void> {
  await tx`lock table configured_item in share row exclusive mode`;
}

/** Sets the value of an item, or removes its row if `value` is null. Returns the row, if there is one. */
export async function writeItem(
  tx: TransactionSql,
  { kind, id }: Pick<ConfiguredItem, 'kind' | 'id'>,
  value: ItemValue | null,
): Promise<ItemRow | undefined> {
  if (value === null) {
    await tx`delete from configured_item where kind = ${kind} and id = ${id}`;
    return undefined;
  }
  const [row] = await tx<ItemRow[]>`
    insert into configured_item (kind, id, value) values (${kind}, ${id}, ${tx.json(value as never)})
    on conflict (kind, id) do update set value = excluded.value, changed_at = weir_now()
    returning *`;
  return row;
}
