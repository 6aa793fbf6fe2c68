import { Button } from './button.tsx';

interface WaitingRowsProps {
  readonly count: number;
  /** What the rows are, e.g. `task`. */
  readonly what: string;
  readonly show: () => void;
}

/** Says how many rows arrived, and shows them when the reader asks. It takes no room without rows. */
export function WaitingRows({ count, what, show }: WaitingRowsProps) {
  return (
    <div aria-live="polite" className="contents">
      {count > 0 ? (
        <Button kind="quiet" onClick={show}>
          {count} new {count === 1 ? what : `${what}s`}
        </Button>
      ) : null}
    </div>
  );
}
