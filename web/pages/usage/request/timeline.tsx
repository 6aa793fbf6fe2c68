import type { CallMoment } from '../../../api/types.ts';
import { duration } from '../../../parts/time.tsx';
import { type Span, spansOf } from './spans.ts';

const COLORS: Readonly<Record<Span['kind'], string>> = {
  weir: 'bg-held',
  attempt: 'bg-accent',
  wait: 'bg-warn',
  stream: 'bg-good',
};

/** A time since the arrival: short ones with digits, because a stage of Weir takes microseconds. */
const exact = (ms: number): string =>
  ms < 10 ? `${ms.toFixed(2)} ms` : ms < 1_000 ? `${ms.toFixed(1)} ms` : duration(ms);

/** The parts of a call's time, drawn to one scale. */
export function Timeline({ timeline }: { timeline: readonly CallMoment[] }) {
  const spans = spansOf(timeline);
  const whole = Math.max(...spans.map(({ until_ms }) => until_ms), 0.001);
  const percent = (ms: number) => `${(ms / whole) * 100}%`;
  return (
    <ol className="grid gap-1.5">
      {spans.map((span) => (
        <li
          key={span.name}
          className="grid grid-cols-[8.5rem_minmax(0,1fr)_5rem] items-center gap-x-3 text-sm max-sm:grid-cols-[minmax(0,1fr)_auto]"
          title={`from ${exact(span.from_ms)} to ${exact(span.until_ms)}`}
        >
          <span>
            {span.name}
            {span.failure === undefined ? null : (
              <code className="block text-[0.85em] text-bad">{span.failure}</code>
            )}
          </span>
          <span
            aria-hidden="true"
            className="relative h-4 overflow-hidden rounded bg-sunk max-sm:order-last max-sm:col-span-2 max-sm:h-2.5"
          >
            <span
              className={`absolute inset-y-0 min-w-0.5 rounded ${span.failure === undefined ? COLORS[span.kind] : 'bg-bad'}`}
              style={{
                left: `min(${percent(span.from_ms)}, calc(100% - 2px))`,
                width: percent(span.until_ms - span.from_ms),
              }}
            />
          </span>
          <span className="text-right figures">{exact(span.until_ms - span.from_ms)}</span>
        </li>
      ))}
      <li className="grid grid-cols-[8.5rem_minmax(0,1fr)_5rem] gap-x-3 border-t border-line pt-1 text-sm text-soft max-sm:grid-cols-[minmax(0,1fr)_auto]">
        <span>In all</span>
        <span aria-hidden="true" className="flex justify-between max-sm:hidden">
          <span>0</span>
          <span>{exact(whole / 2)}</span>
          <span>{exact(whole)}</span>
        </span>
        <span className="text-right figures">{exact(whole)}</span>
      </li>
    </ol>
  );
}
