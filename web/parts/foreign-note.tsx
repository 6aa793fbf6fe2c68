import type { ReactNode } from 'react';

/** Says that somebody else changed what a form shows. `children` are the settings as they are now. */
export function ForeignNote({ what, children }: { what: string; children: ReactNode }) {
  return (
    <div role="alert" className="rounded-box border border-warn bg-warn-soft px-4 py-3">
      <p className="font-medium text-warn">
        Somebody else changed this {what} after you opened it. Nothing of yours is saved yet.
      </p>
      {children}
    </div>
  );
}
