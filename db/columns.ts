import { timestamp } from 'drizzle-orm/pg-core';

/** A point in time: `timestamptz` in the database, a Date outside. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });
