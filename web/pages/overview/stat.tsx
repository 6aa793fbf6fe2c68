import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

interface StatProps {
  readonly title: string;
  /** The page behind the figure, with exactly what it counts. */
  readonly to: string;
  readonly search?: Readonly<Record<string, unknown>> | undefined;
  /** The state of the figure's query. */
  readonly of: { readonly data: unknown; readonly error: unknown; readonly refetch: () => unknown };
  readonly children: ReactNode;
  /** Lines below the figure. */
  readonly below?: ReactNode;
}

/** A figure with its name. It is a link to what it is made of. What could not be read is unknown. */
export function Stat({ title, to, search = {}, of, children, below }: StatProps) {
  const isKnown = of.data !== undefined;
  return (
    <div className="grid min-w-0 content-start gap-0.5 rounded-box border border-line bg-card p-4">
      <h2 className="text-sm text-soft">{title}</h2>
      {isKnown ? (
        <Link
          to={to}
          search={search}
          className="justify-self-start rounded text-2xl font-semibold tracking-tight hover:text-accent"
        >
          {children}
        </Link>
      ) : of.error ? (
        <p className="flex items-baseline gap-2">
          <span className="text-2xl text-soft">unknown</span>
          <button
            type="button"
            className="text-sm text-accent underline"
            onClick={() => of.refetch()}
          >
            Try again
          </button>
        </p>
      ) : (
        <span role="status" className="my-1 block h-7 w-24 animate-pulse rounded bg-sunk">
          <span className="sr-only">Loading</span>
        </span>
      )}
      <div className="min-h-10 text-sm text-soft">{isKnown ? below : null}</div>
    </div>
  );
}
