import { Amount } from './amount.ts';
import { Money } from './money.tsx';

interface CapBarProps {
  /** USD. */
  readonly used: number;
  /** USD that running calls hold. */
  readonly held?: number | undefined;
  /** USD; null if there is no cap. */
  readonly cap: number | null;
}

/** How much of a cap is used, held and left. */
export function CapBar({ used, held = 0, cap }: CapBarProps) {
  if (cap === null) {
    return (
      <span>
        <Money usd={used} /> <span className="text-soft">used, no cap</span>
      </span>
    );
  }
  const left = Amount.ofUsd(cap).minus(Amount.ofUsd(used)).minus(Amount.ofUsd(held));
  const share = (amount: number) => (cap === 0 ? 100 : Math.min(100, (amount / cap) * 100));
  const isNear = left.usd <= cap * 0.1;
  return (
    <span className="grid gap-1">
      <span className="flex flex-wrap justify-between gap-x-3">
        <Money usd={used} />
        <span className="text-soft">
          of <Money usd={cap} />
        </span>
      </span>
      <span
        role="img"
        aria-label={`${Amount.ofUsd(used).short} used, ${Amount.ofUsd(held).short} held, ${left.short} left`}
        title={`${left.short} left`}
        className="flex h-1.5 min-w-24 overflow-hidden rounded-full bg-sunk"
      >
        <span className={isNear ? 'bg-warn' : 'bg-accent'} style={{ width: `${share(used)}%` }} />
        <span className="bg-held" style={{ width: `${share(held)}%` }} />
      </span>
    </span>
  );
}
