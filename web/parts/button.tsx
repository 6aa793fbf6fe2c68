import type { ButtonHTMLAttributes } from 'react';
import { classes } from './classes.ts';

const KINDS = {
  /** The one act that a page or a dialog is for. */
  primary: 'bg-accent text-on-accent border-transparent hover:opacity-90',
  plain: 'bg-card text-ink border-edge hover:bg-sunk',
  /** An act beside others, without a border. */
  quiet: 'bg-transparent text-accent border-transparent hover:bg-accent-soft',
  /** An act that ends something. */
  danger: 'bg-card text-bad border-bad hover:bg-bad-soft',
} as const;

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: keyof typeof KINDS;
  /** True while the act runs. The button then says so and takes no second click. */
  readonly busy?: boolean | undefined;
}

/** A button. It submits a form only with `type="submit"`. */
export function Button({
  kind = 'plain',
  busy = false,
  className,
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled || busy}
      aria-busy={busy || undefined}
      className={classes(
        'inline-flex min-h-9 items-center justify-center gap-1.5 rounded-control border px-3 py-1 font-medium whitespace-nowrap transition-colors disabled:cursor-not-allowed disabled:opacity-55',
        KINDS[kind],
        className,
      )}
    >
      {children}
      {busy ? <span aria-hidden="true">…</span> : null}
    </button>
  );
}
