/** Whether the cache is as cheap and as fast as it must be. */
import { median } from './statistics.ts';
import type { TraceOutcome } from './zipf.ts';

/** One round: the same calls through nginx, through Weir, and from its cache. */
export interface CacheRound {
  readonly stream: boolean;
  /** Answers a second. */
  readonly nginx_per_s: number;
  readonly proxied_per_s: number;
  readonly hits_per_s: number;
  /** The CPU time of Weir's process for one call, µs. */
  readonly proxied_us: number;
  readonly hit_us: number;
}

/** What a whole run found. */
export interface CacheFindings {
  readonly rounds: readonly CacheRound[];
  /** Complete answers from the cache that clients received, and the hits that are on record. */
  readonly hits: { readonly answered: number; readonly on_record: number };
  readonly trace: { readonly expected: TraceOutcome; readonly measured: TraceOutcome };
  /** The upstream calls of identical calls at once, whole and as streams. */
  readonly herd: { readonly calls: number; readonly whole: number; readonly stream: number };
}

/** A hit may cost this share of the CPU time of a proxied call. */
const MAX_CPU_SHARE = 0.5;
/** Weir must send at least this many hits for each answer of nginx. */
const MIN_RATIO = 1;

/** The medians of the ratios of all rounds with or without streams. */
export function ratiosOf(rounds: readonly CacheRound[], stream: boolean) {
  const own = rounds.filter((round) => round.stream === stream);
  return {
    cpu: median(own.map(({ hit_us, proxied_us }) => hit_us / proxied_us)),
    nginx: median(own.map(({ hits_per_s, nginx_per_s }) => hits_per_s / nginx_per_s)),
  };
}

/** Returns everything that is not as it must be. A short run does not check speed. */
export function failuresOf(found: CacheFindings, short: boolean): string[] {
  const { rounds, hits, trace, herd } = found;
  const failures: string[] = [];
  for (const stream of short ? [] : [false, true]) {
    const kind = stream ? 'stream' : 'plain';
    const { cpu, nginx } = ratiosOf(rounds, stream);
    if (!(cpu <= MAX_CPU_SHARE)) {
      failures.push(
        `${kind}: a hit needs ${cpu.toFixed(2)} of the CPU of a proxied call, ${MAX_CPU_SHARE} is the bound`,
      );
    }
    if (!(nginx >= MIN_RATIO)) {
      failures.push(`${kind}: hits are slower than nginx: ratio ${nginx.toFixed(2)}`);
    }
  }
  if (hits.on_record < hits.answered) {
    failures.push(`${hits.answered} hits were answered, and only ${hits.on_record} are on record`);
  }
  for (const name of ['upstream_calls', 'hits', 'saved_nano_usd'] as const) {
    const [expected, measured] = [trace.expected[name], trace.measured[name]];
    if (expected !== measured)
      failures.push(`trace: ${name} is ${measured} instead of ${expected}`);
  }
  for (const form of ['whole', 'stream'] as const) {
    if (herd[form] !== 1) {
      failures.push(`a herd of ${herd.calls} (${form}) was ${herd[form]} upstream calls`);
    }
  }
  return failures;
}
