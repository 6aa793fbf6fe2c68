import { type ContenderName, NAMES } from './contenders.ts';
import type { Measurement } from './load.ts';
import { machine } from './results-file.ts';
import { median } from './statistics.ts';

export interface Series {
  stream: boolean;
  rounds: Map<ContenderName, Measurement[]>;
  /** Contenders without a row. Each has the reason: an invalid answer, or a failed start. */
  refused: Map<ContenderName, string>;
}

export interface BenchSettings {
  rounds: number;
  seconds: number;
  connections: number;
}

interface Figures {
  rps: number;
  p50: number;
  p99: number;
}

/**
 * Returns a contender's medians; undefined if it has no valid measurements. Then the contender has
 * no row and no ratio.
 */
function figures({ rounds, refused }: Series, name: ContenderName): Figures | undefined {
  const measured = rounds.get(name);
  if (refused.has(name) || !measured?.length) return undefined;
  return {
    rps: median(measured.map((round) => round.requests_per_s)),
    p50: median(measured.map((round) => round.p50_ms)),
    p99: median(measured.map((round) => round.p99_ms)),
  };
}

/** One table: medians, added latency against the direct call, and ratios to nginx and Portkey. */
export function table(series: Series): string {
  const base = figures(series, 'direct');
  const proxy = figures(series, 'nginx');
  const rows = NAMES.flatMap((name) => {
    const found = figures(series, name);
    if (!found) return [];
    const { rps, p50, p99 } = found;
    const added = base
      ? `${(p50 - base.p50).toFixed(2)} / ${(p99 - base.p99).toFixed(2)}`
      : 'unknown';
    const ratio = proxy ? (rps / proxy.rps).toFixed(2) : 'unknown';
    return `| ${name} | ${Math.round(rps)} | ${p50.toFixed(2)} | ${p99.toFixed(2)} | ${added} | ${ratio} |`;
  });
  return [
    `### ${series.stream ? 'Streaming' : 'Not streaming'}`,
    '',
    '| through | answers/s | p50 ms | p99 ms | added p50 / p99 ms | ratio to nginx |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
    ...[...series.refused].map(([name, reason]) => `No row for ${name}: ${oneLine(reason)}.\n`),
    ...ratios(series),
  ].join('\n');
}

/**
 * Returns the ratios of Weir to nginx and to the faster Portkey. A contender without a row has no
 * ratio.
 */
function ratios(series: Series): string[] {
  const weir = figures(series, 'weir');
  if (!weir) return [];
  const portkey = (['portkey-node', 'portkey-bun'] as const)
    .flatMap((name) => {
      const found = figures(series, name);
      return found ? [{ name, rps: found.rps }] : [];
    })
    .sort((a, b) => b.rps - a.rps)[0];
  const nginx = figures(series, 'nginx');
  const parts = [
    ...(nginx ? [`Weir : nginx = **${(weir.rps / nginx.rps).toFixed(2)}**`] : []),
    ...(portkey ? [`Weir : ${portkey.name} = **${(weir.rps / portkey.rps).toFixed(1)}**`] : []),
  ];
  return parts.length > 0 ? [parts.join(' · '), ''] : [];
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** The section of `bench/RESULTS.md` about calls. */
export function report(series: Series[], settings: BenchSettings, books: string): string {
  return `## Calls

\`bin/bench --rounds ${settings.rounds} --seconds ${settings.seconds} --connections ${settings.connections}\`, ${machine()}.
Load generator, contender, simulator and PostgreSQL share these cores. Medians of ${settings.rounds} rounds;
each round measures every contender once, one after the other. Compare the ratios; absolute figures depend on the machine.

Weir runs with all features on: key authentication, rate limit, admission against a budget, and a
settlement that is committed to its own PostgreSQL (fsync on) before the answer is complete. nginx
is a bare \`proxy_pass\` with keep-alive and one worker. Portkey is \`@portkey-ai/gateway\` 1.15.2 on
Node and on Bun, without these features. "direct" is the simulator without a program in between.

The benchmark reads one answer of each contender before its measurement, and some under load. A contender
has a row only if all its answers were 2xx and complete.

${series.map(table).join('\n')}
${books}
`;
}
