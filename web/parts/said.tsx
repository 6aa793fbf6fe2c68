import { useEffect, useState, useSyncExternalStore } from 'react';
import { ErrorNote } from './error-note.tsx';

/** How long a line stays, ms. It stays longer while the pointer or the focus is on it. */
const SHOWN_MS = 10_000;

interface Said {
  readonly id: number;
  readonly text: string;
  /** Takes the change back. */
  readonly undo?: (() => Promise<unknown>) | undefined;
}

let said: Said | undefined;
const listeners = new Set<() => void>();

function set(next: Said | undefined): void {
  said = next;
  for (const listener of listeners) listener();
}

/** Says in one line at the foot of the page what was done, with a button that takes it back. */
export function say(text: string, undo?: () => Promise<unknown>): void {
  set({ id: (said?.id ?? 0) + 1, text, undo });
}

/** The line that `say` shows. The frame has one. */
export function SaidLine() {
  const line = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => said,
  );
  return (
    <div
      role="status"
      className="pointer-events-none fixed inset-x-3 bottom-3 z-20 grid print:hidden"
    >
      {line ? <Line key={line.id} line={line} /> : null}
    </div>
  );
}

function Line({ line: { text, undo } }: { line: Said }) {
  const [isHeld, hold] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    if (isHeld || isBusy || error) return;
    const timer = setTimeout(() => set(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isHeld, isBusy, error]);
  const takeBack = async () => {
    setBusy(true);
    try {
      await undo?.();
      set({ id: (said?.id ?? 0) + 1, text: 'Undone.' });
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the pointer acts on nothing, it only keeps the line
    <div
      onMouseEnter={() => hold(true)}
      onMouseLeave={() => hold(false)}
      onFocus={() => hold(true)}
      onBlur={() => hold(false)}
      className="pointer-events-auto grid max-w-full gap-2 justify-self-center rounded-box border border-edge bg-card px-4 py-2 shadow-lg"
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <span className="min-w-0 break-words">{text}</span>
        {undo && !error ? (
          <button
            type="button"
            disabled={isBusy}
            onClick={takeBack}
            className="rounded px-1.5 font-medium text-accent hover:bg-accent-soft"
          >
            Undo
          </button>
        ) : null}
        <button
          type="button"
          aria-label="Close"
          onClick={() => set(undefined)}
          className="rounded px-1.5 text-soft hover:bg-sunk"
        >
          ×
        </button>
      </div>
      {error ? <ErrorNote error={error} /> : null}
    </div>
  );
}
