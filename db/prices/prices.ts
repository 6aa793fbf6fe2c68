import type { Sql } from 'postgres';

/** Where a price comes from, as its declaration says. */
interface PriceSource {
  readonly source: string;
  readonly date: string;
}

/** A price at which a model is sold. */
export interface SoldAt {
  readonly model: string;
  readonly family: string;
  /** The declared price, as `catalogue/*.json` and `weir.yaml` have it. */
  readonly price: object;
  readonly provenance: PriceSource | null;
}

/** A price on record. */
export interface RecordedPrice extends SoldAt {
  /** When a replica first sold at this price. */
  readonly since: Date;
}

/** The most prices of a model that are read. */
const MAX_PRICES = 100;

/** Records the prices that differ from the latest ones on record. Returns the number of new rows. */
export async function recordPrices(sql: Sql, prices: readonly SoldAt[]): Promise<number> {
  const rows = await sql`
    insert into model_price (model, since, family, price, provenance)
    select sold.model, weir_now(), sold.family, sold.price, sold.provenance
    from jsonb_to_recordset(${JSON.stringify(prices)}::text::jsonb) as sold(
      model text, family text, price jsonb, provenance jsonb)
    left join lateral (
      select family, price, provenance from model_price where model_price.model = sold.model
      order by since desc limit 1) as latest on true
    where (latest.family, latest.price, latest.provenance)
      is distinct from (sold.family, sold.price, sold.provenance)
    on conflict do nothing
    returning 1`;
  return rows.length;
}

/**
 * Returns the prices of a model: first those that were on record at a time, the latest first, and then
 * those that came later. A replica may have sold at a price shortly before it was on record.
 */
export function listPrices(sql: Sql, model: string, at: Date): Promise<RecordedPrice[]> {
  return sql<RecordedPrice[]>`
    select model, since, family, price, provenance
    from model_price where model = ${model}
    order by since > ${at}, abs(extract(epoch from since - ${at}::timestamptz)) limit ${MAX_PRICES}`;
}
