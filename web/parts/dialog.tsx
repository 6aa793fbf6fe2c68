import { type ReactNode, useEffect, useId, useRef } from 'react';

interface DialogProps {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** False: Escape and clicks beside it do not close the dialog, because something would be lost. */
  readonly dismissible?: boolean;
  readonly wide?: boolean;
}

/** A dialog over the page. The browser keeps the focus in it and returns it afterwards. */
export function Dialog({
  title,
  onClose,
  children,
  dismissible = true,
  wide = false,
}: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    // Otherwise the button that closes the dialog would have the focus.
    dialog?.querySelector<HTMLElement>('input, select, textarea, [data-first]')?.focus();
    return () => dialog?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same as a click beside the dialog
    <dialog
      ref={element}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (dismissible) onClose();
      }}
      onClick={(event) => {
        if (dismissible && event.target === element.current) onClose();
      }}
      className={`m-auto max-h-[92dvh] w-[calc(100vw-1.5rem)] ${wide ? 'max-w-3xl' : 'max-w-lg'} overflow-y-auto rounded-box border border-line bg-card p-0 text-left text-ink shadow-2xl`}
    >
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 p-5">
        <div className="flex items-start justify-between gap-4">
          <h2 id={id} className="min-w-0 text-lg font-semibold">
            {title}
          </h2>
          {dismissible ? (
            <button
              type="button"
              onClick={onClose}
              aria-label="Close"
              className="-m-1 grid size-8 place-items-center rounded-control text-soft hover:bg-sunk"
            >
              <svg aria-hidden="true" viewBox="0 0 16 16" className="size-4">
                <path d="m3.500 3.500 9 9m0-9-9 9" stroke="currentColor" strokeWidth="1.500" />
              </svg>
            </button>
          ) : null}
        </div>
        {children}
      </div>
    </dialog>
  );
}
