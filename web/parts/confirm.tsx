import type { ReactNode } from 'react';
import { useAct } from './act.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorNote } from './error-note.tsx';

interface ConfirmProps {
  /** The question, with the name of what it is about. */
  readonly title: ReactNode;
  /** What the act breaks. */
  readonly children: ReactNode;
  /** The act, as its button says it, e.g. `Revoke the key`. */
  readonly label: string;
  readonly act: () => Promise<unknown>;
  readonly onClose: () => void;
}

/** Asks before an act that cannot be undone. It names the act, and says what it breaks. */
export function Confirm({ title, children, label, act: work, onClose }: ConfirmProps) {
  const { act, isBusy, error } = useAct();
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="grid gap-2">{children}</div>
      {error ? <ErrorNote error={error} /> : null}
      <div className="flex flex-wrap justify-end gap-2">
        <Button data-first onClick={onClose}>
          Cancel
        </Button>
        <Button
          kind="danger"
          busy={isBusy}
          onClick={() =>
            act(async () => {
              await work();
              onClose();
            })
          }
        >
          {label}
        </Button>
      </div>
    </Dialog>
  );
}
