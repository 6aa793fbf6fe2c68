/**
 * Kills Weir with -9 several times while it runs a message batch. Afterwards every request must
 * have its result, must be charged once, and its charge must agree with the simulator's books.
 */
import { join } from 'node:path';
import { Random } from '../sim/random.ts';
import { compareBooks } from '../support/books/compare-books.ts';
import { differenceText } from '../support/books/difference.ts';
import { findMoneyNotAtRest } from '../support/books/money-at-rest.ts';
import type { Witness } from '../support/books/pairing.ts';
import { type ProviderWork, readProviderWork } from '../support/books/provider-work.ts';
import { freePort } from '../support/ports.ts';
import { startSimulator } from '../support/simulator.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import { withDatabaseOf } from './database-of.ts';

export interface BatchKillOptions {
  kills: number;
  requests: number;
  /** Time of work before each kill, in ms. */
  work_ms: number;
  /** Seed of the lengths and delays of the answers. */
  seed: number;
}

export interface BatchKillReport {
  requests: number;
  succeeded: number;
  /** Answers of the simulator. They include answers that a kill lost. */
  answered: number;
  /** Usage lines in the ledger. */
  charged: number;
  /** Kills while the batch was running. */
  struck: number;
  /** The violated rules. The list must be empty. */
  violations: string[];
}

const MODEL = 'claude-haiku-4-5';
const DEADLINE_MS = 120_000;

interface Batch {
  id: string;
  processing_status: string;
  request_counts: Record<string, number>;
}

interface Result {
  custom_id: string;
  result: { type: string };
}

/** Runs the whole experiment on a fresh data folder. */
export async function runBatchKills(options: BatchKillOptions): Promise<BatchKillReport> {
  const folder = throwawayFolder('batches');
  const simulator = await startSimulator();
  const settings = {
    data: join(folder, 'data'),
    port: await freePort(),
    config: configFor(simulator.url),
  };
  let weir = await startWeir(settings);
  try {
    const { id } = await createBatch(weir, options);
    let struck = 0;
    for (let kill = 0; kill < options.kills; kill += 1) {
      await Bun.sleep(options.work_ms);
      const { processing_status } = await batchOf(weir, id);
      if (processing_status !== 'ended') struck += 1;
      weir.kill('SIGKILL');
      await weir.exited;
      weir = await startWeir(settings);
    }
    const last = weir;
    await until(
      'the batch ended',
      async () => (await batchOf(last, id)).processing_status === 'ended',
      DEADLINE_MS,
    );
    const results = await resultsOf(weir, id);
    await weir.stop();
    const work = await readProviderWork(simulator.url);
    const answered = work.calls.filter(({ outcome }) => outcome === 'whole').length;
    const { url } = simulator;
    return { ...(await compare(settings.data, url, work, results, options)), answered, struck };
  } finally {
    await weir.stop().catch(() => undefined);
    await simulator.stop();
    await removeFolder(folder);
  }
}

function configFor(simulatorUrl: string): string {
  return `channels:
  - id: main
    protocol: anthropic
    base_url: ${simulatorUrl}/anthropic
    api_key: sim-main
    models: { ${MODEL}: ${MODEL} }
`;
}

function call(weir: RunningWeir, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${weir.base_url}/v1/messages/batches${path}`, {
    ...init,
    headers: {
      'x-api-key': weir.api_key,
      'anthropic-version': '2023-06-01',
      'content-type': 'application/json',
    },
  });
}

async function createBatch(weir: RunningWeir, options: BatchKillOptions): Promise<Batch> {
  const random = new Random(options.seed);
  const requests = Array.from({ length: options.requests }, (_, at) => {
    const directives = `tokens=${5 + random.below(20)} latency_ms=${random.below(200)}`;
    const content = `Say it ${at}. [[sim ${directives}]]`;
    const messages = [{ role: 'user', content }];
    const custom_id = `r${at}`;
    const metadata = { user_id: custom_id };
    return { custom_id, params: { model: MODEL, max_tokens: 100, messages, metadata } };
  });
  const made = await call(weir, '', { method: 'POST', body: JSON.stringify({ requests }) });
  if (!made.ok) throw new Error(await made.text());
  return made.json() as Promise<Batch>;
}

async function batchOf(weir: RunningWeir, id: string): Promise<Batch> {
  return (await call(weir, `/${id}`)).json() as Promise<Batch>;
}

async function resultsOf(weir: RunningWeir, id: string): Promise<Result[]> {
  const text = await (await call(weir, `/${id}/results`)).text();
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Result);
}

interface Item {
  custom_id: string;
  request_id: string;
}

/** Checks that each request has one result, and one charge that agrees with the provider's books. */
async function compare(
  data: string,
  simulator_url: string,
  work: ProviderWork,
  results: Result[],
  { requests, seed }: BatchKillOptions,
) {
  const succeeded = new Set(
    results.flatMap(({ custom_id, result }) => (result.type === 'succeeded' ? [custom_id] : [])),
  );
  const { differences, at_rest, charged } = await withDatabaseOf(data, async (sql) => {
    const items = await sql<Item[]>`
      select custom_id, replace(request_id::text, '-', '') as request_id from batch_item`;
    const witnesses = items.map(
      ({ custom_id, request_id }): Witness => ({
        ...{ reference: custom_id, request_id, model: MODEL },
        outcome: succeeded.has(custom_id) ? 'whole' : 'refused',
      }),
    );
    const options = { simulator_url, sql, seed, work, witnesses, killed: true };
    const [row] = await sql<{ lines: number }[]>`select count(*)::int4 as lines from usage_line`;
    return {
      differences: await compareBooks(options),
      at_rest: await findMoneyNotAtRest(sql, { are_grants_returned: true }),
      charged: row?.lines ?? 0,
    };
  });
  const violations = [...differences.map(differenceText), ...at_rest];
  const ids = new Set(results.map(({ custom_id }) => custom_id));
  if (ids.size !== requests || results.length !== requests) {
    violations.push(`${results.length} results of ${ids.size} requests`);
  }
  for (const { custom_id, result } of results) {
    if (result.type !== 'succeeded') violations.push(`${custom_id} ${result.type}`);
  }
  return { requests, succeeded: succeeded.size, charged, violations };
}
