/**
 * Kills Weir with -9 several times while it runs a message batch. Afterwards every request must
 * have its result, must be charged once, and its charge must agree with the simulator's books.
 */
import { join } from 'node:path';
import { findImbalances } from '../../db/ledger/audit.ts';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { chargeFor } from '../../src/catalogue/price.ts';
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
  result: { type: string; message?: { content: { text: string }[]; usage: Usage } };
}

interface Usage {
  input_tokens: number;
  output_tokens: number;
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
    const { id } = await createBatch(weir, options.requests);
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
    const { calls } = await simulator.closedBooks();
    const answered = calls.filter(({ outcome }) => outcome === 'whole').length;
    return { ...(await compare(settings.data, results, options.requests)), answered, struck };
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

async function createBatch(weir: RunningWeir, count: number): Promise<Batch> {
  const requests = Array.from({ length: count }, (_, at) => {
    const content = `Say it ${at}. [[sim tokens=${5 + (at % 20)} latency_ms=${(at * 37) % 200}]]`;
    const params = { model: MODEL, max_tokens: 100, messages: [{ role: 'user', content }] };
    return { custom_id: `r${at}`, params };
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

interface Line {
  charged: number;
  custom_id: string;
}

/** Checks that each request was charged once, for the usage in its result. */
async function compare(data: string, results: Result[], requests: number) {
  const { lines, held, imbalances } = await withDatabaseOf(data, async (sql) => {
    const rows = await sql<Line[]>`
      select charged_nano_usd as charged, custom_id from usage_line
      left join batch_item on batch_item.request_id = usage_line.id`;
    const [sum] = await sql<{ nano_usd: number }[]>`
      select sum(held_nano_usd)::int8 as nano_usd from api_key`;
    return {
      lines: [...rows],
      held: sum?.nano_usd ?? 0,
      imbalances: await findImbalances(sql),
    };
  });
  const violations = imbalances.map((each) => `${each.what} is off by ${each.nano_usd}`);
  if (held !== 0) violations.push(`${held} nano-USD are still held`);
  const model = new Catalogue(builtInModels()).find(MODEL);
  const price = model?.kind === 'chat' ? model.price : undefined;
  const charged = new Map(lines.map((line) => [line.custom_id, line.charged]));
  if (charged.size !== lines.length) violations.push('a request was charged twice, or for nothing');
  const ids = new Set(results.map(({ custom_id }) => custom_id));
  if (ids.size !== requests || results.length !== requests) {
    violations.push(`${results.length} results of ${ids.size} requests`);
  }
  let succeeded = 0;
  for (const { custom_id, result } of results) {
    const usage = result.message?.usage;
    if (result.type !== 'succeeded' || !usage || !price) {
      violations.push(`${custom_id} ${result.type}`);
      continue;
    }
    succeeded += 1;
    const { input_tokens, output_tokens } = usage;
    const expected = chargeFor(
      { input_tokens, output_tokens, cached_input_tokens: 0, cache_write_tokens: 0 },
      price,
    );
    if (charged.get(custom_id) !== expected) {
      violations.push(`${custom_id}: ${charged.get(custom_id)} ≠ ${expected}`);
    }
  }
  return { requests, succeeded, charged: lines.length, violations };
}
