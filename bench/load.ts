import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { Program } from './programs.ts';

/** One measurement: answers a second and latencies in milliseconds. */
export interface Measurement {
  requests_per_s: number;
  p50_ms: number;
  p99_ms: number;
  /** Answers that were not 2xx, and broken connections. */
  errors: number;
}

export interface Target {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/**
 * Waits until the cores have next to nothing to do, 10 s at most: what a contender still does for
 * clients that have left must not be paid by the next one.
 */
export async function quiet(): Promise<void> {
  for (let waited = 0; waited < 10_000; waited += 250) {
    const before = coreTime();
    await Bun.sleep(250);
    const after = coreTime();
    if ((after.idle - before.idle) / (after.all - before.all) > 0.95) return;
  }
}

/** What all cores have spent since the machine started (ms). */
function coreTime(): { idle: number; all: number } {
  const sums = { idle: 0, all: 0 };
  for (const { times } of cpus()) {
    sums.idle += times.idle;
    sums.all += times.user + times.nice + times.sys + times.idle + times.irq;
  }
  return sums;
}

/** Loads a target with wrk (one thread, keep-alive) for `seconds`. */
export async function measure(
  wrk: Program,
  target: Target,
  folder: string,
  load: { connections: number; seconds: number },
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
  const output = await new Response(child.stdout).text();
  const line = /BENCH (\S+) (\S+) (\S+) (\S+)/.exec(output);
  if (!line) throw new Error(`wrk said: ${output}`);
  const [requests_per_s, p50_ms, p99_ms, errors] = line.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
  ];
  return { requests_per_s, p50_ms, p99_ms, errors };
}

function luaOf({ headers, body }: Target): string {
  const assignments = Object.entries(headers).map(
    ([k, v]) => `wrk.headers[ ${lua(k)} ] = ${lua(v)}`,
  );
  return `wrk.method = "POST"
wrk.body = ${lua(body)}
${assignments.join('\n')}
function done(summary, latency)
  local errors = summary.errors.status + summary.errors.connect + summary.errors.read
    + summary.errors.write + summary.errors.timeout
  print(string.format("BENCH %.1f %.3f %.3f %d", summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, errors))
end
`;
}

function lua(text: string): string {
  return `[==[${text}]==]`;
}
