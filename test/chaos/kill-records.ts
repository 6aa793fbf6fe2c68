/** The records of calls after kills, as the organization reads them on the public interface. */
import type { ClientCall } from './load.ts';
import type { ClientTask } from './task-load.ts';

interface ShownCall {
  /** Without `req_`. */
  request_id: string;
  outcome: string;
  amount: number;
}

/** What the organization reads. Amounts are in nano-USD. */
export interface ReadRecords {
  readonly calls: readonly ShownCall[];
  /** The sum of the lines of usage, and the used part of the balance. */
  readonly lines: bigint;
  readonly used: bigint;
}

/** An amount of an answer, USD as a JSON number, as whole nano-USD. */
const nano = (usd: number) => BigInt(usd.toFixed(9).replace('.', ''));
const sumOf = (amounts: readonly { amount: number }[]) =>
  amounts.reduce((sum, { amount }) => sum + nano(amount), 0n);

/** Reads all records, all lines of usage and the balance, page by page. */
export async function readRecords(weir: {
  base_url: string;
  management_token: string;
}): Promise<ReadRecords> {
  const get = async <Answer>(path: string) => {
    const response = await fetch(`${weir.base_url}/v1/management${path}`, {
      headers: { authorization: `Bearer ${weir.management_token}` },
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Answer;
  };
  const calls: ShownCall[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { data: ShownCall[]; next_cursor: string | null } = await get(
      `/requests?limit=100${cursor}`,
    );
    calls.push(...page.data.map((each) => ({ ...each, request_id: each.request_id.slice(4) })));
    cursor = page.next_cursor === null ? null : `&cursor=${page.next_cursor}`;
  }
  let lines = 0n;
  for (let page = 1, more = true; more; page += 1) {
    const answer = await get<{ data: ShownCall[]; has_more: boolean }>(
      `/usage?limit=100&page=${page}`,
    );
    lines += sumOf(answer.data);
    more = answer.has_more;
  }
  const { used } = await get<{ used: number }>('/balance');
  return { calls, lines, used: nano(used) };
}

/**
 * Returns the violated rules: each answered call and each created task has one record with its
 * outcome, and all sums are equal to the sum of the charges, which `charged` has in nano-USD.
 */
export function recordViolations(
  { calls, lines, used }: ReadRecords,
  answered: readonly ClientCall[],
  tasks: readonly ClientTask[],
  charged: bigint,
): string[] {
  const outcomes = new Map<string, string[]>();
  for (const { request_id, outcome } of calls) {
    outcomes.set(request_id, [...(outcomes.get(request_id) ?? []), outcome]);
  }
  const violations: string[] = [];
  for (const [request_id, listed] of outcomes) {
    if (listed.length > 1) violations.push(`${request_id} is listed as ${listed.join(', ')}`);
  }
  const require = (request_id: string, outcome: string) => {
    const [listed] = outcomes.get(request_id) ?? [];
    if (listed !== outcome) violations.push(`${request_id} is ${listed}, and not ${outcome}`);
  };
  for (const { request_id = '', outcome } of answered) {
    if (outcome === 'whole') require(request_id, 'completed');
  }
  for (const { request_id, status, task_id } of tasks) {
    if (status === 'completed' || status === 'failed') require(request_id, status);
    else violations.push(`${task_id} stays ${status}`);
  }
  for (const [name, sum] of Object.entries({ records: sumOf(calls), lines, used })) {
    if (sum !== charged) violations.push(`the sum of ${name} is ${sum}, and not ${charged}`);
  }
  return violations;
}
