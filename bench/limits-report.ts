/** The results of `bin/bench limits` as text. */
import type { LimitsOptions } from './limits-options.ts';
import { disturbanceLine, type Found, KINDS, type Measured } from './pairs.ts';
import { machine } from './results-file.ts';
import { median, medianInterval } from './statistics.ts';
import {
  CONFIDENCE,
  intervalName,
  type Summary,
  signed,
  summarize,
  verdictLine,
} from './verdict.ts';

/** What the pairs found about one kind of calls. */
interface Verdict {
  readonly rate: Summary;
  readonly cpu: Summary;
}

/** Returns the losses of rate, and the rises of CPU time, as shares. */
export function verdictOf(measured: readonly Measured[], bound: number): Verdict {
  const rises = measured.map(({ cpu_us }) => cpu_us.new / cpu_us.old - 1);
  const loss = median(rises);
  const interval = medianInterval(rises, CONFIDENCE);
  const rates = measured.map(({ rates }) => rates);
  return { rate: summarize(rates, bound), cpu: { loss, interval, slower: loss > bound } };
}

/** True if a median is above the bound. */
export function isSlower(found: Found, bound: number): boolean {
  return KINDS.some((kind) => {
    const { rate, cpu } = verdictOf(found[kind], bound);
    return rate.slower || cpu.slower;
  });
}

/** The section of `bench/RESULTS.md` about limits. */
export function limitsSection(
  found: Found,
  { pairs, seconds, connections, bound, redis }: LimitsOptions,
): string {
  const verdicts = KINDS.map((kind) => ({ kind, ...verdictOf(found[kind], bound) }));
  const rows = verdicts.map(({ kind, rate, cpu }) => {
    const of = (value: (each: Measured) => number) => median(found[kind].map(value));
    const cells = [
      kind,
      `${of(({ rates }) => rates.old).toFixed(0)} / ${of(({ rates }) => rates.new).toFixed(0)}`,
      `${signed(rate.loss)} (${rangeOf(rate)})`,
      `${of(({ cpu_us }) => cpu_us.old).toFixed(1)} / ${of(({ cpu_us }) => cpu_us.new).toFixed(1)}`,
      `${signed(cpu.loss)} (${rangeOf(cpu)})`,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const summaries = verdicts.flatMap(({ rate, cpu }) => [rate, cpu]);
  const remark = disturbanceLine(found);
  return `## All limits at once${redis ? ', with Redis' : ''}

\`bin/bench limits --pairs ${pairs} --seconds ${seconds} --connections ${connections}${redis ? ' --redis' : ''}\`, ${machine()}.
One Weir serves the same calls of two keys, in turns. The first key has no limits. The second key has limits of requests a minute,
tokens a minute and calls at the same time, for all models and for the model of the calls, and nine budgets: of a day, a
week and a month, for the key, for a tag of the calls and for the organization. No limit refuses. Each pair has a
new Weir and an empty database. All processes share the cores.

| calls | answers/s without / with limits | median loss | CPU of Weir for a call, µs | median rise |
|---|---|---|---|---|
${rows.join('\n')}

In parentheses: ${intervalName(verdicts[0]?.rate.interval ?? { low: 0, high: 0, coverage: 0 })}. ${verdictLine(summaries, bound)}${remark === undefined ? '' : `\n\n${remark}`}`;
}

function rangeOf({ interval }: Summary): string {
  return `${signed(interval.low)} to ${signed(interval.high)}`;
}
