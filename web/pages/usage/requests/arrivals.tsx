import { Button } from '../../../parts/button.tsx';
import { count } from '../../../parts/figures.ts';
import type { CallList } from './call-list.ts';

interface ArrivalsProps {
  readonly list: CallList;
  /** True if the list is frozen. */
  readonly isHeld: boolean;
  readonly show: () => void;
}

/** The calls that arrived since the list was read. They wait, so that no row moves under the pointer. */
export function Arrivals({ list, isHeld, show }: ArrivalsProps) {
  const { waiting, hasMoreWaiting, isWaitingUnknown } = list;
  const number = `${count(waiting.length)}${hasMoreWaiting ? '+' : ''}`;
  return (
    <div role="status" className="flex items-center gap-3 text-sm">
      {isWaitingUnknown ? <span className="text-warn">Newer calls are unknown.</span> : null}
      {isHeld ? <span className="text-soft">Frozen. {number} arrived since.</span> : null}
      {!isHeld && waiting.length === 0 ? (
        <span className="flex items-center gap-1.5 text-soft">
          <span aria-hidden="true" className="size-2 rounded-full bg-good" /> Live
        </span>
      ) : null}
      {waiting.length > 0 ? (
        <Button kind={isHeld ? 'plain' : 'primary'} onClick={show}>
          {isHeld ? 'Show them' : `${number} new`}
        </Button>
      ) : null}
    </div>
  );
}
