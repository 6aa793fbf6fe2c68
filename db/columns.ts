import { timestamp } from 'drizzle-orm/pg-core';

/** A column for a time: `timestamptz` in the database, a Date in code. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });
