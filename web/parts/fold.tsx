import type { ReactNode } from 'react';

interface FoldProps {
  readonly label: string;
  /** The value in words, also if it is the default. */
  readonly words: string;
  /** True: it opens by itself, e.g. because the API refused its value. */
  readonly isRefused: boolean;
  readonly children: ReactNode;
}

/** A field that is folded to its name and its value in words. */
export function Fold({ label, words, isRefused, children }: FoldProps) {
  return (
    <details open={isRefused || undefined} className="group">
      <summary className="flex items-baseline gap-3 rounded-control px-3 py-1.5 hover:bg-sunk">
        <span className="w-32 shrink-0 sm:w-40">{label}</span>
        <bdi className="min-w-0 flex-1 truncate text-soft group-open:invisible">{words}</bdi>
        <svg
          aria-hidden="true"
          viewBox="0 0 16 16"
          className="size-3 shrink-0 self-center text-soft transition-transform group-open:rotate-90"
        >
          <path d="m5.500 3 5 5-5 5" fill="none" stroke="currentColor" strokeWidth="1.500" />
        </svg>
      </summary>
      <div className="px-3 pt-1 pb-3">{children}</div>
    </details>
  );
}
