/**
 * Kills Weir or its database with -9 while clients stream. Afterwards each answer
 * is compared with the simulator's books and with its charge.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findImbalances } from '../../db/ledger/audit.ts';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { chargeFor } from '../../src/catalogue/price.ts';
import { freePort } from '../support/ports.ts';
import { startSimulator } from '../support/simulator.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import { withDatabaseOf } from './database-of.ts';
import { type ClientCall, Load } from './load.ts';

export interface KillOptions {
  victim: 'weir' | 'database';
  kills: number;
  streams: number;
  /** Time of load before each kill, in ms. */
  load_ms: number;
}

export interface KillReport {
  calls: number;
  /** Complete answers at the clients. */
  whole: number;
  broken: number;
  refused: number;
  /** Complete answers from the simulator to Weir. */
  upstream_whole: number;
  /** Charges in the ledger. */
  settled: number;
  /**
   * Answers that a kill cut after the upstream's end and before the commit. They are not charged,
   * and the client's connection broke.
   */
  killed_before_commit: number;
  /**
   * Answers that a kill cut between the commit and the last byte. They are charged, and the
   * client's connection broke.
   */
  killed_after_commit: number;
  /** Nano-USD that are still held at the end. */
  held_nano_usd: number;
  /** The violated rules. The list must be empty. */
  violations: string[];
}

interface Line {
  request_id: string;
  outcome: 'completed' | 'partial';
  charged: number;
}

interface BookedCall {
  client_reference: string | null;
  outcome: string;
  prompt_tokens: number;
  completion_tokens: number;
}

const PROMPT = 'Count slowly. [[sim tokens=60 chunk_ms=15]]';

/** Runs the whole experiment on a fresh data folder. */
export async function runKills(options: KillOptions): Promise<KillReport> {
  const folder = throwawayFolder('kill');
  const simulator = await startSimulator();
  const settings = {
    data: join(folder, 'data'),
    port: await freePort(),
    config: configFor(simulator.url),
  };
  let weir = await startWeir(settings);
  const load = new Load(weir, PROMPT);
  try {
    load.start(options.streams);
    for (let kill = 0; kill < options.kills; kill += 1) {
      await Bun.sleep(options.load_ms);
      weir = await strike(options.victim, weir, settings);
    }
    await Bun.sleep(options.load_ms);
    await load.stop();
    await weir.stop();
    const books = await fetch(`${simulator.url}/_sim/books`).then((response) => response.json());
    return await compare(load.calls, (books as { calls: BookedCall[] }).calls, settings.data);
  } finally {
    await weir.stop().catch(() => undefined);
    await simulator.stop();
    await removeFolder(folder);
  }
}

function configFor(simulatorUrl: string): string {
  return `channels:
  - id: main
    protocol: openai
    base_url: ${simulatorUrl}/openai/v1
    api_key: sim-main
    max_concurrency: 1000
    models: { gpt-4o-mini: gpt-4o-mini-physical }
roles: { standard: 1000000 }
`;
}

async function strike(
  victim: KillOptions['victim'],
  weir: RunningWeir,
  settings: Parameters<typeof startWeir>[0],
): Promise<RunningWeir> {
  if (victim === 'weir') {
    weir.kill('SIGKILL');
    await weir.exited;
    return startWeir(settings);
  }
  process.kill(postmasterOf(weir.data), 'SIGKILL');
  return weir;
}

function postmasterOf(data: string): number {
  for (const path of new Bun.Glob('postgres/**/postmaster.pid').scanSync({ cwd: data })) {
    return Number(readFileSync(join(data, path), 'utf8').split('\n')[0]);
  }
  throw new Error(`no postmaster in ${data}`);
}

function readLedger(data: string) {
  return withDatabaseOf(data, async (sql) => {
    const lines = await sql<Line[]>`
      select replace(request_id::text, '-', '') as request_id, outcome, charged_nano_usd as charged
      from usage_line`;
    const [held] = await sql<{ nano_usd: number }[]>`
      select sum(held_nano_usd)::int8 as nano_usd from api_key`;
    const imbalances = await findImbalances(sql);
    return { lines: [...lines], held: held?.nano_usd ?? 0, imbalances };
  });
}

async function compare(
  calls: ClientCall[],
  booked: BookedCall[],
  data: string,
): Promise<KillReport> {
  const ledger = await readLedger(data);
  const violations = ledger.imbalances.map((each) => `${each.what} is off by ${each.nano_usd}`);
  const model = new Catalogue(builtInModels()).find('gpt-4o-mini');
  const price = model?.kind === 'chat' ? model.price : undefined;
  const upstream = new Map(booked.map((call) => [call.client_reference, call]));
  const lines = new Map(ledger.lines.map((line) => [line.request_id, line]));
  if (lines.size !== ledger.lines.length) violations.push('a request was charged twice');
  let killed_before_commit = 0;
  let killed_after_commit = 0;
  for (const call of calls) {
    const line = call.request_id ? lines.get(call.request_id) : undefined;
    const book = upstream.get(call.reference);
    if (line) lines.delete(line.request_id);
    if (call.outcome === 'whole' && (!line || !book || !price)) {
      violations.push(`${call.reference} was delivered and not charged`);
    } else if (line?.outcome === 'completed' && book && price) {
      const expected = chargeFor(
        {
          input_tokens: book.prompt_tokens,
          output_tokens: book.completion_tokens,
          cached_input_tokens: 0,
          cache_write_tokens: 0,
        },
        price,
      );
      if (line.charged !== expected)
        violations.push(`${call.reference}: ${line.charged} ≠ ${expected}`);
      if (book.outcome !== 'whole')
        violations.push(`${call.reference} was charged but not produced`);
      if (call.outcome !== 'whole') killed_after_commit += 1;
    } else if (!line && book?.outcome === 'whole') killed_before_commit += 1;
  }
  // The first event carries the id, and every charged call has sent it.
  if (lines.size > 0) violations.push(`${lines.size} charges belong to no call`);
  if (ledger.held !== 0) violations.push(`${ledger.held} nano-USD are still held`);
  const count = (outcome: ClientCall['outcome']) =>
    calls.filter((call) => call.outcome === outcome).length;
  return {
    calls: calls.length,
    whole: count('whole'),
    broken: count('broken'),
    refused: count('refused'),
    upstream_whole: booked.filter((call) => call.outcome === 'whole').length,
    settled: ledger.lines.length,
    killed_before_commit,
    killed_after_commit,
    held_nano_usd: ledger.held,
    violations,
  };
}
