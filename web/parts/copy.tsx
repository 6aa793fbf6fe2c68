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
  const copy = async (button: HTMLElement) => {
    say((await copyText(text, button)) ? 'copied' : 'not copied');
    setTimeout(() => say(''), SAID_MS);
  };
  return (
    <button
      type="button"
      onClick={(event) => {
        event.stopPropagation();
        copy(event.currentTarget);
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

/** Copies a text, and returns whether that worked. Browsers have the clipboard only over HTTPS and on localhost. */
async function copyText(text: string, beside: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Beside the button, because all outside of an open dialog is inert.
    const area = Object.assign(document.createElement('textarea'), { value: text });
    area.className = 'sr-only';
    beside.after(area);
    area.select();
    const isCopied = document.execCommand('copy');
    area.remove();
    beside.focus();
    return isCopied;
  }
}
