/**
 * Compares the calls of the clients, the usage lines and the simulator's books, call by call, after
 * pauses. What a paused replica charged to a closed grant is absorbed by the platform. So a charge
 * here is the sum of what the client and the platform paid.
 */
import type { Sql } from 'postgres';
import type { Call } from '../../simulator/shared/books.ts';
import type { MixedCall } from '../full/support/mixed-load.ts';

/** Prices of one input and one output token in nano-USD, by channel (the providers' price lists). */
const PRICES: Record<string, readonly [number, number]> = {
  openai: [150, 600],
  anthropic: [1_000, 5_000],
};
/** The price of 4 s of veo-3.1-fast, at 0.10 USD per second. */
const TASK_NANO_USD = 400_000_000;

interface Line {
  request_id: string;
  outcome: string;
  charged: number;
  /** The item of a message batch that the line charges; null for a call of its own. */
  item: string | null;
}

export interface BooksReport {
  lines: number;
  /** Nano-USD that the platform absorbed. */
  absorbed: number;
  violations: string[];
}

/** Compares everything; no call, task or batch may be under way. */
export async function comparePauseBooks(
  sql: Sql,
  calls: readonly MixedCall[],
  booked: readonly Call[],
): Promise<BooksReport> {
  const lines = await sql<Line[]>`
    select replace(usage_line.request_id::text, '-', '') as request_id, outcome,
      usage_line.charged_nano_usd + overrun_nano_usd as charged, batch_item.custom_id as item
    from usage_line left join batch_item on batch_item.request_id = usage_line.id
    where scene = 'chat'`;
  const [sums] = await sql<{ absorbed: number }[]>`
    select coalesce(sum(overrun_nano_usd), 0)::int8 as absorbed from usage_line`;
  const violations = [
    ...compareCalls(
      lines.filter(({ item }) => item === null),
      calls,
      booked,
    ),
    ...(await compareBatches(sql, booked)),
    ...(await compareTasks(sql, calls)),
  ];
  return { lines: lines.length, absorbed: sums?.absorbed ?? Number.NaN, violations };
}

function priceOf({ account, prompt_tokens, completion_tokens }: Call): number {
  const [input, output] = PRICES[account] ?? [0, 0];
  return prompt_tokens * input + completion_tokens * output;
}

function compareCalls(
  lines: readonly Line[],
  calls: readonly MixedCall[],
  booked: readonly Call[],
): string[] {
  const books = new Map(booked.map((book) => [book.client_reference, book]));
  const unexplained = new Map(lines.map((line) => [line.request_id, line]));
  const violations =
    unexplained.size < lines.length ? ['a request has two usage lines'] : ([] as string[]);
  for (const { kind, reference, outcome, request_id = '' } of calls) {
    if (kind === 'task') continue;
    const book = books.get(reference);
    const line = unexplained.get(request_id);
    unexplained.delete(request_id);
    const price = book && priceOf(book);
    const seen = `${kind} ${reference} (${outcome}): line ${line?.charged}, provider ${price}`;
    if (outcome === 'whole' && (!line || line.charged !== price)) violations.push(seen);
    if (outcome === 'refused' && line && line.charged > 0) violations.push(seen);
    if (outcome === 'broken' && line && line.charged > (price ?? 0)) violations.push(seen);
  }
  // Probes have no call in the load. Each of their lines must have a price in the provider's books.
  const probes = booked.filter(({ client_reference }) => client_reference === 'probe');
  const prices = new Set(probes.map(priceOf));
  let extra = 0;
  for (const line of unexplained.values()) {
    if (prices.has(line.charged)) extra += 1;
    else violations.push(`a charge of ${line.charged} belongs to no call (${line.request_id})`);
  }
  if (extra > probes.length) violations.push(`${extra} charges of ${probes.length} probes`);
  return violations;
}

interface ItemRow {
  item: string;
  answer: string | null;
  result: string | null;
  /** What each usage line of the item charges. */
  charges: number[];
}

/**
 * Each item of each batch succeeded, and was charged once, for an answer of the provider. A batch that
 * was `received` only was never opened, e.g. because its replica was paused. No client knows it.
 */
async function compareBatches(sql: Sql, booked: readonly Call[]): Promise<string[]> {
  const rows = await sql<ItemRow[]>`
    select batch_id || ' ' || custom_id as item, answer, result,
      coalesce(array_agg((usage_line.charged_nano_usd + usage_line.overrun_nano_usd)::float8)
        filter (where usage_line.id is not null), '{}') as charges
    from batch_item join message_batch on message_batch.id = batch_id
      left join usage_line on usage_line.id = batch_item.request_id
    where message_batch.status <> 'received' group by batch_id, position`;
  const whole = booked.filter(
    ({ client_reference, outcome }) =>
      client_reference?.startsWith('batch-') && outcome === 'whole',
  );
  const violations = rows.flatMap(({ item, answer, result, charges }) => {
    const price = answer === null ? undefined : priceOfAnswer(answer);
    if (result === 'succeeded' && charges.length === 1 && charges[0] === price) return [];
    return [`batch item ${item} is ${result}, charged ${charges}, its answer costs ${price}`];
  });
  // An item that was under way during a pause may have run twice at the provider.
  const prices = whole.map(priceOf);
  for (const { item, charges } of rows) {
    const at = prices.indexOf(charges[0] ?? Number.NaN);
    if (at < 0) violations.push(`batch item ${item}: no call of the provider costs ${charges}`);
    else prices.splice(at, 1);
  }
  return violations;
}

function priceOfAnswer(answer: string): number | undefined {
  const { usage } = JSON.parse(answer) as {
    usage?: { input_tokens: number; output_tokens: number };
  };
  const [input = 0, output = 0] = PRICES['anthropic'] ?? [];
  return usage && usage.input_tokens * input + usage.output_tokens * output;
}

async function compareTasks(sql: Sql, calls: readonly MixedCall[]): Promise<string[]> {
  const tasks = await sql<{ id: string; status: string; charges: number[] }[]>`
    select task.id, task.status,
      coalesce(array_agg((usage_line.charged_nano_usd + usage_line.overrun_nano_usd)::float8)
        filter (where usage_line.id is not null), '{}') as charges
    from task left join usage_line using (hold_id) group by task.id`;
  const violations = tasks.flatMap(({ id, status, charges }) => {
    const expected = status === 'completed' ? String(TASK_NANO_USD) : '';
    return charges.join() === expected ? [] : [`task ${id} is ${status}, charged ${charges}`];
  });
  const ids = new Set(tasks.map(({ id }) => id));
  for (const { task_id } of calls) {
    if (task_id !== undefined && !ids.has(task_id)) violations.push(`task ${task_id} is lost`);
  }
  return violations;
}
