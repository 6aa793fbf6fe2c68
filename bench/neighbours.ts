/**
 * The command `bin/bench neighbours`: attacks Weir, and measures a well-behaved client beside each
 * attack (P20). The client, the attacker, Weir and both upstreams are processes of their own.
 */
import { join } from 'node:path';
import { connectDatabase } from '../db/client.ts';
import { orExit } from '../test/support/arguments.ts';
import { createTestDatabase } from '../test/support/postgres.ts';
import { startSimulator } from '../test/support/simulator.ts';
import { startWeir } from '../test/support/weir.ts';
import { flawOfCall } from './answers.ts';
import { type Attack, ENDLESS_MODEL, SILENT_MODEL, UPSTREAM_ATTACKS } from './attacks.ts';
import { chatChannel, ROLES, targetOf } from './contenders.ts';
import { waitUntilIdle } from './load.ts';
import { readNeighbourOptions } from './neighbour-options.ts';
import { type Attacked, harmOf, type Neighbour, rowOf } from './neighbour-verdict.ts';
import { peakMb, resetPeak } from './process.ts';
import type { Victim } from './raw-client.ts';
import { machine, writeSection } from './results-file.ts';
import type { Target } from './target.ts';

const options = orExit(() => readNeighbourOptions(process.argv.slice(2)));
/** Requests of the neighbour at the same time. */
const LANES = 4;
/** Calls of the hostile upstream's models at the same time. */
const MAX_CONCURRENCY = 1_000;
/** Requests a minute of the key that floods Weir with tiny calls. */
const LIMITED_RATE = 60;
/** The attack runs for this time before the neighbour is measured, ms. */
const LEAD_MS = 200;
const IDLE_PATIENCE_MS = 5_000;

const simulator = await startSimulator();
const hostile = startProcess('hostile-upstream.ts');
const hostile_url = await firstLine(hostile);
const database = await createTestDatabase();
const weir = await startWeir({
  env: { DATABASE_URL: database.url, WEIR_BOOTSTRAP_BALANCE_USD: '1000000' },
  config: JSON.stringify({
    channels: [chatChannel(simulator.url), ...hostileModels().map(hostileChannel)],
    models: hostileModels().map(modelOf),
    roles: ROLES,
  }),
});
const keys = { api_key: await createKey('attacker'), limited_key: await createKey('limited') };
await limitRate('limited');
const target = targetOf(weir, false);
await measureNeighbour(target, options.measure_ms);

const measured: Attacked[] = [];
for (const attack of options.attacks) {
  if (!options.short) await waitUntilIdle(IDLE_PATIENCE_MS);
  measured.push(await measure(attack));
  console.log(rowOf(measured.at(-1) as Attacked));
}
const harms = measured.flatMap((each) => harmOf(each, options.short) ?? []);
for (const harm of harms) console.error(`bench: ${harm}`);
if (options.write) writeSection('neighbours', sectionOf(measured));
hostile.kill('SIGKILL');
await weir.stop();
await simulator.stop();
await database.drop();
process.exit(harms.length > 0 ? 1 : 0);

async function measure(attack: Attack): Promise<Attacked> {
  const quiet = await measureNeighbour(target, options.measure_ms);
  resetPeak(weir.pid);
  const victim: Victim = { port: weir.port, ...keys };
  const attacker = startProcess('attacker.ts', JSON.stringify({ name: attack.name, ...victim }));
  await firstLine(attacker);
  await Bun.sleep(LEAD_MS);
  const attacked = await measureNeighbour(target, options.measure_ms);
  attacker.kill('SIGKILL');
  await attacker.exited;
  return { attack, quiet, attacked, peak_mb: peakMb(weir.pid) };
}

/** Sends requests one after the other on a few lanes. */
async function measureNeighbour(to: Target, duration_ms: number): Promise<Neighbour> {
  const neighbour: Neighbour = { times_ms: [], failures: [] };
  const end_ms = performance.now() + duration_ms;
  const lane = async () => {
    while (performance.now() < end_ms) {
      const started_ms = performance.now();
      const flaw = await flawOfCall(to, false);
      if (flaw === undefined) neighbour.times_ms.push(performance.now() - started_ms);
      else neighbour.failures.push(flaw);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return neighbour;
}

function hostileModels(): string[] {
  return [...Object.keys(UPSTREAM_ATTACKS), ENDLESS_MODEL, SILENT_MODEL];
}

function hostileChannel(model: string) {
  return {
    ...{ id: `hostile-${model}`, protocol: 'openai', base_url: `${hostile_url}/${model}` },
    ...{ api_key: 'none', max_concurrency: MAX_CONCURRENCY, models: { [model]: model } },
  };
}

function modelOf(id: string) {
  const price = { input_usd_per_mtok: 0.1, output_usd_per_mtok: 0.1 };
  return { id, category: 'chat', owned_by: 'bench', family: 'openai-chat', price };
}

async function createKey(name: string): Promise<string> {
  const response = await fetch(`${weir.base_url}/v1/management/api-keys`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${weir.management_token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ name }),
  });
  if (!response.ok) throw new Error(`no key was created: ${await response.text()}`);
  return ((await response.json()) as { key: string }).key;
}

/** Sets the rate of a key before its first use. No route can set it. */
async function limitRate(name: string): Promise<void> {
  const { sql, close } = connectDatabase(database.url, { pool: 'single' });
  await sql`update api_key set requests_per_minute = ${LIMITED_RATE} where name = ${name}`;
  await close();
}

function startProcess(file: string, ...args: string[]) {
  return Bun.spawn([process.execPath, join(import.meta.dir, file), ...args], {
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' },
  });
}

async function firstLine({ stdout }: ReturnType<typeof startProcess>): Promise<string> {
  for await (const chunk of stdout) return new TextDecoder().decode(chunk).trim();
  throw new Error('a process of the bench ended at once');
}

function sectionOf(rows: readonly Attacked[]): string {
  return `## A client beside an attack

\`bin/bench neighbours\`, ${machine()}. A client sends ${LANES} calls at a time to a healthy upstream, with a key of its
own. The p99 is the time within which 99 % of its calls were answered: before the attack (quiet) and during it.
The memory is the largest that Weir had during the attack. All processes share the machine, so a part of the
ratio is the attacker's own CPU time.

| side | attack | p99 quiet, ms | p99 attacked, ms | ratio | failures | memory, MB |
|---|---|---|---|---|---|---|
${rows.map(rowOf).join('\n')}
`;
}
