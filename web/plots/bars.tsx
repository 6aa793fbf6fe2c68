import { Link } from '@tanstack/react-router';

/** One bar: a sum of a short time. */
interface Bar {
  /** What the bar is of, e.g. `9:00 to 10:00`. */
  readonly label: string;
  /** Null is unknown, which is not zero. */
  readonly value: number | null;
  /** The page with what the bar sums. */
  readonly search: Readonly<Record<string, unknown>>;
}

interface BarsProps {
  readonly title: string;
  readonly bars: readonly Bar[];
  readonly format: (value: number) => string;
  /** The page of all bars. */
  readonly to: string;
}

/** A few bars without axes to choose from. Each is a link to what it sums, and says its value. */
export function Bars({ title, bars, format, to }: BarsProps) {
  const most = Math.max(...bars.map(({ value }) => value ?? 0), 0);
  const shown = (value: number | null) => (value === null ? 'unknown' : format(value));
  const height = (value: number | null) =>
    value === null || most === 0 ? 0 : Math.max((value / most) * 100, value > 0 ? 2 : 0);
  return (
    <figure aria-label={title} className="grid min-w-0 gap-1">
      <p className="text-right text-xs text-soft">{most > 0 ? `highest: ${format(most)}` : ''}</p>
      <ol className="flex h-36 gap-px border-b border-edge sm:gap-0.5">
        {bars.map(({ label, value, search }) => (
          <li key={label} className="min-w-0 flex-1">
            <Link
              to={to}
              search={search}
              title={`${label}: ${shown(value)}`}
              aria-label={`${label}: ${shown(value)}`}
              className="group flex h-full items-end rounded-t-sm hover:bg-sunk"
            >
              <span
                className={`w-full rounded-t-sm ${value === null ? 'h-full bg-sunk' : 'bg-accent group-hover:opacity-80'}`}
                style={value === null ? {} : { height: `${height(value)}%` }}
              />
            </Link>
          </li>
        ))}
      </ol>
      <figcaption aria-hidden="true" className="flex justify-between text-xs text-soft">
        <span>{bars[0]?.label}</span>
        <span className="max-sm:hidden">{bars[Math.floor(bars.length / 2)]?.label}</span>
        <span>{bars.at(-1)?.label}</span>
      </figcaption>
    </figure>
  );
}
