import type { Sql, TransactionSql } from 'postgres';
import { isUniqueViolation } from '../unique-violation.ts';
import { groupByCommon, rareOf } from './line-values.ts';
import { settleStatement } from './settle-statement.ts';
import type { InlineLine } from './usage-line.ts';

/**
 * The amounts that are stored in a usage line. They may differ from the amounts that were sent, e.g.
 * if the line is repeated.
 */
export interface SettledLine {
  charged_nano_usd: number;
  overrun_nano_usd: number;
  /**
   * `settled_nano_usd` of the line's grant after this settlement. It is set only on the last line
   * of each grant, and only if a line was repeated or its grant was closed or missing. In this case
   * the sender's own sum is wrong, and the sender must use this sum instead.
   */
  grant_settled_nano_usd?: number;
}

/**
 * Inserts usage lines and adds their charges to the grants, in one statement.
 *
 * - A repeated line charges nothing; the amounts of its stored row are returned. That row may belong
 *   to the grant of another replica.
 * - If the line's grant is closed, because the grant's replica is dead, the line charges nothing.
 *   The platform absorbs the amount: it is added to `overrun_nano_usd`.
 * - A line with an id below `first_id` is a repeat whose row retention removed. It charges nothing,
 *   and its own amounts are returned. Without `first_id`, the database refuses such a line.
 * - Grants are locked in id order (see `lockMoney`).
 *
 * Returns the amounts in the order of the lines. An amount is undefined if there is no such grant;
 * then nothing was charged.
 *
 * Values that many lines share are sent once, as JSON. The other values are sent as arrays
 * (decisions: bulk-settlement).
 */
export async function settleInline(
  sql: Sql | TransactionSql,
  lines: readonly InlineLine[],
  first_id = '',
): Promise<(SettledLine | undefined)[]> {
  const kept = first_id === '' ? lines : lines.filter(({ id }) => id >= first_id);
  const { booked, has_absorbed } = await insertNewLines(sql, kept);
  if (booked === lines.length && !has_absorbed) return [...lines];
  return readSettled(sql, lines, first_id);
}

/**
 * Reads the amounts of the lines and the sums of their grants. Needed only if a line is repeated,
 * or if its grant is closed or does not exist. This is rare, so these are separate queries. They do
 * not slow down the statement that inserts the lines.
 */
async function readSettled(
  sql: Sql | TransactionSql,
  lines: readonly InlineLine[],
  first_id: string,
): Promise<(SettledLine | undefined)[]> {
  const ids = lines.map(({ id }) => id);
  const stored = await sql<(SettledLine & { id: string })[]>`
    select id, charged_nano_usd, overrun_nano_usd from usage_line where id = any(${ids}::uuid[])`;
  const grant_ids = [...new Set(lines.map(({ grant_id }) => grant_id))];
  const grants = await sql<{ id: string; settled_nano_usd: number }[]>`
    select id, settled_nano_usd from quota_grant where id = any(${grant_ids}::uuid[])`;
  const line_of = new Map(stored.map((row) => [row.id, row]));
  const settled_of = new Map(grants.map((row) => [row.id, row.settled_nano_usd]));
  const answers = lines.map((line): SettledLine | undefined => {
    const row = line_of.get(line.id) ?? (line.id < first_id ? line : undefined);
    if (!row) return undefined;
    const { charged_nano_usd, overrun_nano_usd } = row;
    return { charged_nano_usd, overrun_nano_usd };
  });
  for (const grant_id of grant_ids) {
    const last = answers.findLast((answer, at) => answer && lines[at]?.grant_id === grant_id);
    if (last) last.grant_settled_nano_usd = settled_of.get(grant_id) ?? 0;
  }
  return answers;
}

/** The number of new lines, and whether a grant was closed. */
interface Inserted {
  readonly booked: number;
  readonly has_absorbed: boolean;
}

/**
 * Inserts the lines that are not stored yet. Lines are rarely repeated, and an insert that skips such
 * lines costs a tenth more. So the first attempt expects none, unless an error would end a transaction.
 * `on conflict` names no column: with a name, each statement looks up the index in the catalogue of
 * each partition.
 */
async function insertNewLines(
  sql: Sql | TransactionSql,
  lines: readonly InlineLine[],
): Promise<Inserted> {
  if ('savepoint' in sql) return insertLines(sql, lines, { skip_repeated: true });
  try {
    return await insertLines(sql, lines, { skip_repeated: false });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return insertLines(sql, lines, { skip_repeated: true });
  }
}

async function insertLines(
  sql: Sql | TransactionSql,
  lines: readonly InlineLine[],
  { skip_repeated }: { skip_repeated: boolean },
): Promise<Inserted> {
  const rare = lines.flatMap(rareOf);
  const has_rare = rare.length > 0;
  const statement = settleStatement({ skip_repeated, has_rare });
  const values = valuesOf(lines);
  if (has_rare) values.push(JSON.stringify(rare));
  const [row] = await sql.unsafe<Inserted[]>(statement, values, { prepare: true });
  return row ?? { booked: 0, has_absorbed: false };
}

/**
 * Returns the values of `settleStatement` that all lines have, in its order. One loop fills all columns: it runs for
 * every line, and a callback for each column took a fifth longer (measured).
 */
function valuesOf(lines: readonly InlineLine[]): string[] {
  const { common, common_of } = groupByCommon(lines);
  const from_ms = lines.find(({ record }) => record)?.record?.at_ms ?? 0;
  const ids: string[] = [];
  const input: number[] = [];
  const output: number[] = [];
  const charged: number[] = [];
  const after_ms: Known[] = [];
  const authenticated: Known[] = [];
  const reserved: Known[] = [];
  const routed: Known[] = [];
  const first_token: Known[] = [];
  const ended: Known[] = [];
  for (const { id, input_tokens, output_tokens, charged_nano_usd, record = UNKNOWN } of lines) {
    ids.push(id);
    input.push(input_tokens);
    output.push(output_tokens);
    charged.push(charged_nano_usd);
    after_ms.push(record.at_ms === null ? null : record.at_ms - from_ms);
    authenticated.push(record.authenticated_us);
    reserved.push(record.reserved_us);
    routed.push(record.routed_us);
    first_token.push(record.first_token_ms);
    ended.push(record.ended_ms);
  }
  return [
    ...[JSON.stringify(common), arrayOf(common_of)],
    ...[arrayOf(ids), arrayOf(input), arrayOf(output), arrayOf(charged), String(from_ms)],
    ...[after_ms, authenticated, reserved, routed, first_token, ended].map(arrayOfKnown),
  ];
}

/** Null if a line has no such fact. */
type Known = number | null;

/** The facts of a line without a record. */
const UNKNOWN = {
  ...{ at_ms: null, authenticated_us: null, reserved_us: null, routed_us: null },
  ...{ first_token_ms: null, ended_ms: null },
};

/** Returns numbers or UUIDs as an array literal of PostgreSQL. In such a literal, they need no quotes. */
function arrayOf(values: readonly (number | string)[]): string {
  return `{${values.join()}}`;
}

/** Like `arrayOf`. If all lines lack the value, the array is empty. */
function arrayOfKnown(values: readonly Known[]): string {
  if (!values.includes(null)) return arrayOf(values as readonly number[]);
  if (values.every((value) => value === null)) return arrayOf([]);
  return arrayOf(values.map((value) => value ?? 'null'));
}
