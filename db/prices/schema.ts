/** The prices at which models were sold, so that an old charge can be explained. */
import { sql } from 'drizzle-orm';
import { jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';

/** A price of a model, from the time when a replica first had it in its catalogue. */
export const modelPrice = pgTable(
  'model_price',
  {
    model: text('model').notNull(),
    since: instant('since').notNull().default(sql`now()`),
    /** The family of the model. It decides how the price is read. */
    family: text('family').notNull(),
    /** The declared price (`PriceDeclaration`). */
    price: jsonb('price').notNull(),
    /** The source and the day of the price; null if the declaration names none. */
    provenance: jsonb('provenance'),
  },
  (table) => [primaryKey({ columns: [table.model, table.since] })],
);
