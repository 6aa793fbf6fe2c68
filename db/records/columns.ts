import { sql } from 'drizzle-orm';
import { bigint, boolean, integer, jsonb, text } from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';

/**
 * The columns that say how a call went. Usage lines have them, and records of calls without a usage
 * line. Offsets count from the arrival of the request; null means that the call did not get so far.
 */
export const recordColumns = () => ({
  /** The date of the call: the instant of its reservation, or of its arrival if it reserved nothing. */
  at: instant('at').notNull().default(sql`now()`),
  /** The protocol of the client, e.g. `openai` or `anthropic`. */
  protocol: text('protocol').notNull().default(''),
  /** The start of the client's `User-Agent`, e.g. `OpenAI/JS 7.55.0`. */
  program: text('program').notNull().default(''),
  authenticated_us: integer('authenticated_us'),
  reserved_us: integer('reserved_us'),
  /** When the latest attempt on a channel began. */
  routed_us: integer('routed_us'),
  first_token_ms: integer('first_token_ms'),
  ended_ms: integer('ended_ms'),
  reasoning_tokens: integer('reasoning_tokens').notNull().default(0),
  audio_tokens: integer('audio_tokens').notNull().default(0),
  /** True if the call looked for its answer in the cache. Its outcome is `cached` if the answer was there. */
  looked_up: boolean('looked_up').notNull().default(false),
  /** Facts that few calls have (`CallDetail`). */
  detail: jsonb('detail'),
  /**
   * The number of the transaction that wrote the row; it never repeats. It decides which snapshots
   * contain the row (PostgreSQL docs: Transaction ID and Snapshot Information Functions).
   */
  xid: bigint('xid', { mode: 'number' }).notNull().default(sql`pg_current_xact_id()::text::int8`),
});
