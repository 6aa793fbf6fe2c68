import { useState } from 'react';
import { classes } from './classes.ts';

/** How long the button says that the text was copied, ms. */
const SAID_MS = 1_500;

interface CopyProps {
  readonly text: string;
  /** What is copied, e.g. `request id`, for the name of the button. */
  readonly what: string;
  /** What is shown; the text itself if left out. */
  readonly shown?: string | undefined;
  readonly className?: string;
}

/** A text that one click copies, e.g. an id. */
export function Copy({ text, what, shown = text, className }: CopyProps) {
  const [said, say] = useState('');
  const copy = async () => {
    const failed = await navigator.clipboard.writeText(text).then(
      () => false,
      () => true,
    );
    say(failed ? 'not copied' : 'copied');
    setTimeout(() => say(''), SAID_MS);
  };
  return (
    <button
      type="button"
      onClick={(event) => {
        event.stopPropagation();
        copy();
      }}
      title={`Copy the ${what}`}
      className={classes(
        'inline-flex max-w-full items-baseline gap-1.5 rounded px-1 text-left font-mono text-[0.85em] hover:bg-accent-soft',
        className,
      )}
    >
      <span className="min-w-0 break-all">{shown}</span>
      <span aria-live="polite" className="font-sans text-accent">
        {said}
      </span>
      {said === '' ? (
        <svg
          aria-hidden="true"
          viewBox="0 0 16 16"
          className="size-3 shrink-0 self-center text-soft"
        >
          <path
            d="M5.500 5.500V2.500h8v8h-3M2.500 5.500h8v8h-8z"
            fill="none"
            stroke="currentColor"
            strokeWidth="1.300"
          />
        </svg>
      ) : null}
    </button>
  );
}
