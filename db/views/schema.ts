/** Named views of pages: a page with its filters, kept for a person or for the whole organization. */
import { sql } from 'drizzle-orm';
import { check, foreignKey, index, pgTable, text } from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';
import { membership } from '../people/schema.ts';
import { organization } from '../schema.ts';

export const savedView = pgTable(
  'saved_view',
  {
    id: text('id').primaryKey(),
    organization_id: text('organization_id')
      .notNull()
      .references(() => organization.id),
    /** Whose view it is; null = everybody of the organization sees it. */
    person_id: text('person_id'),
    name: text('name').notNull(),
    /** The page, e.g. `usage`. */
    page: text('page').notNull(),
    /** The query of the page's address, without `?`. */
    query: text('query').notNull(),
    /** The id of the person or of the token that made the view. */
    created_by: text('created_by').notNull(),
    created_at: instant('created_at').notNull().default(sql`weir_now()`),
    updated_at: instant('updated_at').notNull().default(sql`weir_now()`),
  },
  (table) => [
    // A person who leaves the organization takes no view along, and leaves none behind.
    foreignKey({
      name: 'saved_view_of_a_member',
      columns: [table.organization_id, table.person_id],
      foreignColumns: [membership.organization_id, membership.person_id],
    }).onDelete('cascade'),
    index('saved_view_by_owner').on(table.organization_id, table.person_id),
    check('saved_view_is_bounded', sql`length(query) <= 4000 and length(name) <= 200`),
  ],
);
