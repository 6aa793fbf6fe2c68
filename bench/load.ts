import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { flawOfCall } from './answers.ts';
import type { Program } from './programs.ts';
import type { Target } from './target.ts';

/** One measurement: answers per second, and latencies in milliseconds. */
export interface Measurement {
  requests_per_s: number;
  p50_ms: number;
  p99_ms: number;
  /** Number of answers that wrk received, and the seconds in which it received them. */
  answers: number;
  seconds: number;
  /** Number of answers without a 2xx status, plus broken connections. */
  errors: number;
  /**
   * Number of valid answers among those that a separate client read. wrk does not check its
   * answers.
   */
  read: number;
  /** What was wrong with each invalid answer that the separate client read. */
  flaws: string[];
}

/** The pause between two answers that the separate client reads during a measurement. */
const READ_EVERY_MS = 200;

/**
 * Waits until the cores are idle, at most `patience_ms`. Returns false if the cores stayed busy. A
 * contender may continue to work for disconnected clients. This work must not slow down the next
 * contender.
 */
export async function waitUntilIdle(patience_ms = 10_000): Promise<boolean> {
  for (let waited = 0; waited < patience_ms; waited += 250) {
    const before = coreTime();
    await Bun.sleep(250);
    const after = coreTime();
    if ((after.idle - before.idle) / (after.all - before.all) > 0.95) return true;
  }
  return false;
}

/** Time of all cores since the machine started, in ms. */
function coreTime(): { idle: number; all: number } {
  const sums = { idle: 0, all: 0 };
  for (const { times } of cpus()) {
    sums.idle += times.idle;
    sums.all += times.user + times.nice + times.sys + times.idle + times.irq;
  }
  return sums;
}

export interface Load {
  connections: number;
  seconds: number;
  stream: boolean;
}

/** Loads a target with wrk (one thread, keep-alive) and reads some of the answers meanwhile. */
export async function measure(
  wrk: Program,
  target: Target,
  folder: string,
  load: Load,
): Promise<Measurement> {
  const script = join(folder, 'post.lua');
  writeFileSync(script, luaOf(target));
  const child = Bun.spawn(
    [
      wrk.path,
      ...['-t1', `-c${load.connections}`, `-d${load.seconds}s`, '--timeout', '20s', '--latency'],
      ...['-s', script, target.url],
    ],
    { env: { ...process.env, ...wrk.env }, stdout: 'pipe', stderr: 'inherit' },
  );
  const reading = readSome(target, load.stream, child.exited);
  const output = await new Response(child.stdout).text();
  const { read, flaws } = await reading;
  const line = /BENCH (\S+) (\S+) (\S+) (\S+) (\S+)/.exec(output);
  if (!line) throw new Error(`wrk printed: ${output}`);
  const [answers, seconds, p50_ms, p99_ms, errors] = line.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const requests_per_s = answers / seconds;
  return { requests_per_s, p50_ms, p99_ms, answers, seconds, errors, read, flaws };
}

/** Returns why a measurement does not count; undefined if it counts. */
export function flawOfMeasurement({
  answers,
  errors,
  read,
  flaws,
}: Measurement): string | undefined {
  if (errors > 0) return `${errors} errors and ${answers} answers under load`;
  if (flaws.length > 0) return `an answer under load was wrong: ${flaws[0]}`;
  return answers + read > 0 ? undefined : 'no answer arrived';
}

async function readSome(target: Target, stream: boolean, ended: Promise<unknown>) {
  let running = true;
  const end = ended.then(() => {
    running = false;
  });
  const flaws: string[] = [];
  let read = 0;
  while (running) {
    const flaw = await flawOfCall(target, stream);
    if (flaw === undefined) read += 1;
    else flaws.push(flaw);
    await Promise.race([Bun.sleep(READ_EVERY_MS), end]);
  }
  return { read, flaws };
}

function luaOf({ headers, body, unique }: Target): string {
  const assignments = Object.entries(headers).map(
    ([k, v]) => `wrk.headers[ ${lua(k)} ] = ${lua(v)}`,
  );
  return `wrk.method = "POST"
wrk.body = ${lua(body)}
${assignments.join('\n')}
${unique === undefined ? '' : uniqueBodies(body, unique)}
function done(summary, latency)
  local errors = summary.errors.status + summary.errors.connect + summary.errors.read
    + summary.errors.write + summary.errors.timeout
  print(string.format("BENCH %d %.6f %.3f %.3f %d", summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, errors))
end
`;
}

/** Each request of wrk has a number in its body, and each measurement a name of its own. */
function uniqueBodies(body: string, unique: string): string {
  const [before = '', after = ''] = body.split(unique);
  return `local sent = 0
function request()
  sent = sent + 1
  return wrk.format(nil, nil, nil, ${lua(`${before}${crypto.randomUUID()}-`)} .. sent .. ${lua(after)})
end`;
}

function lua(text: string): string {
  return `[==[${text}]==]`;
}
