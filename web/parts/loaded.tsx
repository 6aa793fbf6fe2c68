import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorNote } from './error-note.tsx';

interface LoadedProps<Value> {
  readonly query: Pick<UseQueryResult<Value>, 'data' | 'error' | 'dataUpdatedAt'> & {
    readonly refetch: () => unknown;
  };
  readonly children: (value: Value) => ReactNode;
  /** The height of what will appear, so that nothing jumps: a Tailwind class. */
  readonly height?: string;
}

/**
 * What a query returned. Until then a grey surface; after an error the error and a button. Data that could
 * not be read again stays, and a line says that it is old.
 */
export function Loaded<Value>({ query, children, height = 'h-32' }: LoadedProps<Value>) {
  const { data, error, refetch, dataUpdatedAt } = query;
  if (data === undefined) {
    if (error) return <ErrorNote error={error} retry={() => refetch()} />;
    return (
      <div role="status" className={`${height} animate-pulse rounded-box bg-sunk`}>
        <span className="sr-only">Loading</span>
      </div>
    );
  }
  return (
    <>
      {error ? (
        <p role="status" className="rounded-control bg-warn-soft px-3 py-1.5 text-sm text-warn">
          This is as of {new Date(dataUpdatedAt).toLocaleTimeString()}: newer data could not be
          read.{' '}
          <button type="button" className="underline" onClick={() => refetch()}>
            Try again
          </button>
        </p>
      ) : null}
      {children(data)}
    </>
  );
}
