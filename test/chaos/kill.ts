/**
 * Kills Weir or its database with -9 while clients stream and tasks run. Afterwards each answer is
 * compared with the simulator's books, with its charge, and with its record on the public interface.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareBooks } from '../support/books/compare-books.ts';
import { differenceText } from '../support/books/difference.ts';
import { findMoneyNotAtRest } from '../support/books/money-at-rest.ts';
import { readProviderWork } from '../support/books/provider-work.ts';
import { freePort } from '../support/ports.ts';
import { startSimulator } from '../support/simulator.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import { withDatabaseOf } from './database-of.ts';
import { type ReadRecords, readRecords, recordViolations } from './kill-records.ts';
import { type ClientCall, Load } from './load.ts';
import { type ClientTask, TaskLoad } from './task-load.ts';

export interface KillOptions {
  victim: 'weir' | 'database';
  kills: number;
  streams: number;
  /** Clients that create tasks. */
  tasks: number;
  /** Time of load before each kill, in ms. */
  load_ms: number;
  /** Seed of the lengths of the answers. */
  seed: number;
}

export interface KillReport {
  calls: number;
  /** Complete answers at the clients. */
  whole: number;
  broken: number;
  refused: number;
  /** Complete answers from the simulator to Weir. */
  upstream_whole: number;
  /** Charges of calls in the ledger. */
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
  /** Tasks that ended, and those of them that failed. */
  tasks: number;
  failed_tasks: number;
  /** The records of calls. */
  records: number;
  /** The violated rules. The list must be empty. */
  violations: string[];
}

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
  const load = new Load(weir, options.seed);
  const tasks = new TaskLoad(weir, options.seed);
  try {
    load.start(options.streams);
    tasks.start(options.tasks);
    for (let kill = 0; kill < options.kills; kill += 1) {
      await Bun.sleep(options.load_ms);
      weir = await strike(options.victim, weir, settings);
    }
    await Bun.sleep(options.load_ms);
    await Promise.all([load.stop(), tasks.stop()]);
    const records = await readRecords(weir);
    await weir.stop();
    const seen = { calls: load.calls, tasks: tasks.tasks, records };
    return await compare(seen, simulator.url, settings.data, options);
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
  - id: images
    protocol: midjourney
    base_url: ${simulatorUrl}/midjourney/mj
    api_key: sim-images
    models: { midjourney: MID_JOURNEY }
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

interface ChargedLine {
  readonly request_id: string;
  readonly outcome: string;
  readonly nano_usd: number;
  /** Also of a task whose client was cut off before it learned the id. */
  readonly is_task: boolean;
}

/** What clients saw, and what their organization reads. */
interface Seen {
  readonly calls: readonly ClientCall[];
  readonly tasks: readonly ClientTask[];
  readonly records: ReadRecords;
}

async function compare(
  { calls, tasks, records }: Seen,
  simulator_url: string,
  data: string,
  { victim, seed }: KillOptions,
): Promise<KillReport> {
  const work = await readProviderWork(simulator_url);
  const { differences, at_rest, charged } = await withDatabaseOf(data, async (sql) => ({
    // A killed database breaks no call, because Weir keeps the charges until it is back.
    differences: await compareBooks({
      ...{ simulator_url, sql, seed, work, witnesses: calls, killed: victim === 'weir' },
    }),
    at_rest: await findMoneyNotAtRest(sql, { are_grants_returned: true }),
    charged: await sql<ChargedLine[]>`
      select replace(request_id::text, '-', '') as request_id, outcome,
        charged_nano_usd as nano_usd, hold_id is not null as is_task
      from usage_line`,
  }));
  const sum = charged.reduce((so_far, { nano_usd }) => so_far + BigInt(nano_usd), 0n);
  const completed = new Set(
    charged.filter(({ outcome }) => outcome === 'completed').map(({ request_id }) => request_id),
  );
  const upstream = new Set(
    work.calls.filter(({ outcome }) => outcome === 'whole').map(({ reference }) => reference),
  );
  const isCharged = ({ request_id = '' }: ClientCall) => completed.has(request_id);
  const lines = new Set(charged.map(({ request_id }) => request_id));
  const hasLine = ({ request_id = '' }: ClientCall) => lines.has(request_id);
  const broken = calls.filter(({ outcome }) => outcome !== 'whole');
  const count = (outcome: ClientCall['outcome']) =>
    calls.filter((call) => call.outcome === outcome).length;
  return {
    calls: calls.length,
    whole: count('whole'),
    broken: count('broken'),
    refused: count('refused'),
    upstream_whole: upstream.size,
    settled: charged.filter(({ is_task }) => !is_task).length,
    killed_before_commit: broken.filter((call) => upstream.has(call.reference) && !hasLine(call))
      .length,
    killed_after_commit: broken.filter(isCharged).length,
    tasks: tasks.length,
    failed_tasks: tasks.filter(({ status }) => status === 'failed').length,
    records: records.calls.length,
    violations: [
      ...differences.map(differenceText),
      ...at_rest,
      ...recordViolations(records, calls, tasks, sum),
    ],
  };
}
