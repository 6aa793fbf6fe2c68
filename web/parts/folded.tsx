import { type ReactNode, useState } from 'react';

interface FoldedProps {
  readonly summary: ReactNode;
  /** True: it is open from the start. */
  readonly isOpen?: boolean;
  readonly className?: string;
  /** Draws what is folded. */
  readonly children: () => ReactNode;
}

/**
 * A part of a page that is folded to its summary. What it holds is drawn when it is opened for the first
 * time: most readers open none, and a page with several would be drawn for nothing.
 */
export function Folded({ summary, isOpen = false, className = '', children }: FoldedProps) {
  const [wasOpened, setOpened] = useState(isOpen);
  return (
    <details
      className={className}
      open={isOpen}
      onToggle={({ currentTarget }) => {
        if (currentTarget.open) setOpened(true);
      }}
    >
      <summary className="inline-block rounded px-1.5 py-0.5 text-sm text-soft select-none hover:bg-sunk hover:text-ink">
        {summary}
      </summary>
      {wasOpened || isOpen ? children() : null}
    </details>
  );
}
