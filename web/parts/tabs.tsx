import { type KeyboardEvent, type ReactNode, useId, useState } from 'react';

/** One of several views in one place. */
export interface Tab {
  readonly name: string;
  readonly view: ReactNode;
}

/** Views of which one is shown. The arrow keys move between them (WAI-ARIA: tabs). */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const [chosen, choose] = useState(0);
  const id = useId();
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = (chosen + step + tabs.length) % tabs.length;
    choose(next);
    document.getElementById(`${id}-tab-${next}`)?.focus();
  };
  return (
    <div className="grid min-w-0 gap-2">
      <div role="tablist" aria-label={label} className="flex flex-wrap gap-1" onKeyDown={move}>
        {tabs.map(({ name }, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-tab-${index}`}
            aria-selected={index === chosen}
            aria-controls={`${id}-view`}
            tabIndex={index === chosen ? 0 : -1}
            onClick={() => choose(index)}
            className="rounded-control px-2.5 py-1 text-sm text-soft hover:bg-sunk aria-selected:bg-accent-soft aria-selected:font-medium aria-selected:text-accent"
          >
            {name}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`${id}-view`}
        aria-labelledby={`${id}-tab-${chosen}`}
        className="min-w-0"
      >
        {tabs[chosen]?.view}
      </div>
    </div>
  );
}
