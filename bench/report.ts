import type { Contender } from './contenders.ts';
import type { Measurement } from './load.ts';
import { machine } from './results-file.ts';

export interface Series {
  stream: boolean;
  rounds: Record<Contender['name'], Measurement[]>;
}

export interface BenchSettings {
  rounds: number;
  seconds: number;
  connections: number;
}

/** The middle one: machines are noisy, and one slow round says little. */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

const NAMES = ['direct', 'nginx', 'portkey', 'weir'] as const;

function figures(rounds: Measurement[]) {
  return {
    rps: median(rounds.map((round) => round.requests_per_s)),
    p50: median(rounds.map((round) => round.p50_ms)),
    p99: median(rounds.map((round) => round.p99_ms)),
    errors: rounds.reduce((sum, round) => sum + round.errors, 0),
  };
}

/** One table: medians, added latency against the direct call, and ratios to nginx and Portkey. */
export function table({ stream, rounds }: Series): string {
  const base = figures(rounds.direct);
  const proxy = figures(rounds.nginx);
  const rows = NAMES.map((name) => {
    const { rps, p50, p99, errors } = figures(rounds[name]);
    const added = `${(p50 - base.p50).toFixed(2)} / ${(p99 - base.p99).toFixed(2)}`;
    const ratio = (rps / proxy.rps).toFixed(2);
    return `| ${name} | ${Math.round(rps)} | ${p50.toFixed(2)} | ${p99.toFixed(2)} | ${added} | ${ratio} | ${errors} |`;
  });
  const { rps } = figures(rounds.weir);
  return [
    `### ${stream ? 'Streaming' : 'Not streaming'}`,
    '',
    '| through | answers/s | p50 ms | p99 ms | added p50 / p99 ms | ratio to nginx | errors |',
    '|---|---|---|---|---|---|---|',
    ...rows,
    '',
    `Weir : nginx = **${(rps / proxy.rps).toFixed(2)}** · Weir : Portkey = **${(rps / figures(rounds.portkey).rps).toFixed(1)}**`,
    '',
  ].join('\n');
}

/** The section of `bench/RESULTS.md` about calls. */
export function report(series: Series[], settings: BenchSettings, books: string): string {
  return `## Calls

\`bin/bench --rounds ${settings.rounds} --seconds ${settings.seconds} --connections ${settings.connections}\`, ${machine()}.
Load generator, contender, simulator and PostgreSQL share these cores. Medians of ${settings.rounds} rounds,
contenders in turn within every round. Read the ratios; absolute figures move with the machine.

Weir runs with everything on: key authentication, rate limit, admission against a budget, and a
settlement that is committed to its own PostgreSQL (fsync on) before the answer is complete. nginx
is a bare \`proxy_pass\` with keep-alive and one worker; Portkey is \`@portkey-ai/gateway\` 1.15.2 on
Node, with none of these on. "direct" is the simulator without anything in between.

${series.map(table).join('\n')}
${books}
`;
}
