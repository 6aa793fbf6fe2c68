import * as DropdownMenu from '@radix-ui/react-dropdown-menu';
import type { ReactNode } from 'react';

/** An act of a menu. */
export interface MenuAct {
  readonly label: string;
  readonly act: () => void;
  readonly isDanger?: boolean;
}

interface MenuProps {
  /** The name of the button for readers that cannot see it. */
  readonly label: string;
  readonly button: ReactNode;
  readonly acts: readonly MenuAct[];
  /** What stands above the acts. */
  readonly head?: ReactNode;
}

/** A button that opens a list of acts. */
export function Menu({ label, button, acts, head }: MenuProps) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger
        aria-label={label}
        className="inline-flex min-h-9 min-w-9 items-center justify-center gap-1.5 rounded-control px-2 hover:bg-sunk"
      >
        {button}
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          sideOffset={4}
          className="z-20 min-w-44 rounded-box border border-line bg-card p-1 text-ink shadow-lg"
        >
          {head === undefined ? null : (
            <DropdownMenu.Label className="px-2.5 py-1.5 text-sm text-soft">
              {head}
            </DropdownMenu.Label>
          )}
          {acts.map(({ label: name, act, isDanger }) => (
            <DropdownMenu.Item
              key={name}
              onSelect={act}
              className={`cursor-pointer rounded-control px-2.5 py-1.5 outline-none data-highlighted:bg-accent-soft ${isDanger ? 'text-bad' : ''}`}
            >
              {name}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
