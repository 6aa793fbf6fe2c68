/** The results of `bin/bench cache` as text. */
import type { CacheSpeedOptions } from './cache-options.ts';
import { type CacheFindings, type CacheRound, ratiosOf } from './cache-verdict.ts';
import { machine } from './results-file.ts';
import { median } from './statistics.ts';

const NANO_PER_USD = 1e9;
const kindOf = ({ stream }: { readonly stream: boolean }) => (stream ? 'stream' : 'plain');

/** One line for a round. */
export function roundLine(round: CacheRound, number: number, of: number): string {
  const { nginx_per_s, proxied_per_s, hits_per_s, proxied_us, hit_us } = round;
  const [nginx, proxied, hits] = [nginx_per_s, proxied_per_s, hits_per_s].map(Math.round);
  return (
    `${kindOf(round).padEnd(6)} ${number}/${of} nginx ${nginx}/s  Weir ${proxied}/s  hits ${hits}/s, ` +
    `CPU of Weir: call ${proxied_us.toFixed(1)} µs, hit ${hit_us.toFixed(1)} µs`
  );
}

/** The section of `bench/RESULTS.md` about the cache. */
export function cacheSection(
  { rounds, hits, trace, herd }: CacheFindings,
  { rounds: count, seconds, connections, trace: calls, herd: size }: CacheSpeedOptions,
): string {
  const rows = [false, true].map((stream) => {
    const own = rounds.filter((round) => round.stream === stream);
    const middle = (value: (round: CacheRound) => number) => median(own.map(value));
    const { cpu, nginx } = ratiosOf(rounds, stream);
    const cells = [
      kindOf({ stream }),
      Math.round(middle(({ nginx_per_s }) => nginx_per_s)),
      Math.round(middle(({ proxied_per_s }) => proxied_per_s)),
      Math.round(middle(({ hits_per_s }) => hits_per_s)),
      nginx.toFixed(2),
      middle(({ proxied_us }) => proxied_us).toFixed(1),
      middle(({ hit_us }) => hit_us).toFixed(1),
      cpu.toFixed(2),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const share = (part: number) => `${((100 * part) / calls).toFixed(2)} %`;
  const usd = (nano: number) => (nano / NANO_PER_USD).toFixed(6);
  const { expected, measured } = trace;
  return `## The cache

\`bin/bench cache --rounds ${count} --seconds ${seconds} --connections ${connections} --trace ${calls} --herd ${size}\`, ${machine()}.
Load generator, nginx, Weir, simulator and PostgreSQL share these cores. Medians of ${count} rounds; each round measures every
side once, one after the other, and a ratio is of one round. Hits are authenticated, rate-limited and on record.

| calls | nginx, answers/s | Weir to the simulator, answers/s | hits/s | hits : nginx | CPU of Weir for a call, µs | for a hit, µs | hit : call |
|---|---|---|---|---|---|---|---|
${rows.join('\n')}

${hits.answered} hits were answered, and ${hits.on_record} are on record (the load generator leaves its last calls unanswered).

A trace of ${calls} calls, of which question n has the weight 1/n (Zipf), half of them streams:

| | expected | measured |
|---|---|---|
| calls that reach the simulator, by its own count | ${expected.upstream_calls} | ${measured.upstream_calls} |
| hits | ${expected.hits} | ${measured.hits} |
| hit rate | ${share(expected.hits)} | ${share(measured.hits)} |
| saved, USD | ${usd(expected.saved_nano_usd)} | ${usd(measured.saved_nano_usd)} |

${herd.calls} identical calls at once were ${herd.whole} upstream call, and ${herd.stream} as streams.`;
}
