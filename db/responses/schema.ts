import { index, json, pgTable, text, timestamp } from 'drizzle-orm/pg-core';
import { organization } from '../schema.ts';

/** Responses that clients may come back to: by id, or as the beginning of the next one. */
export const storedResponse = pgTable(
  'stored_response',
  {
    /** As the client knows it. */
    id: text('id').primaryKey(),
    organization_id: text('organization_id')
      .notNull()
      .references(() => organization.id),
    /** The answer as it was given. Not `jsonb`: that takes no NUL inside of a text. */
    body: json('body').notNull(),
    /** All items that the model was asked with, those of the responses before it included. */
    input: json('input').notNull(),
    created_at: timestamp('created_at', { withTimezone: true, precision: 3 })
      .notNull()
      .defaultNow(),
  },
  (table) => [index('stored_response_by_age').on(table.created_at)],
);
