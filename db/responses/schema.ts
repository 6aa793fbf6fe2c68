import { index, json, pgTable, text, timestamp } from 'drizzle-orm/pg-core';
import { organization } from '../schema.ts';

/** Responses that clients can read by id, or continue with another request. */
export const storedResponse = pgTable(
  'stored_response',
  {
    /** The public id. */
    id: text('id').primaryKey(),
    organization_id: text('organization_id')
      .notNull()
      .references(() => organization.id),
    /** The answer as it was sent to the client. `jsonb` would reject NUL characters in texts. */
    body: json('body').notNull(),
    /** All input items that the model received, including the items of earlier responses. */
    input: json('input').notNull(),
    created_at: timestamp('created_at', { withTimezone: true, precision: 3 })
      .notNull()
      .defaultNow(),
  },
  (table) => [index('stored_response_by_age').on(table.created_at)],
);
