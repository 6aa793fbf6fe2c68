import type { Balance } from '../../api/types.ts';
import { Amount } from '../../parts/amount.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Money } from '../../parts/money.tsx';
import { Card } from '../../parts/page.tsx';
import { useBalance } from './data.ts';

/** What the organization has, and what became of its deposits. */
export function BalanceCard() {
  return (
    <Card>
      <Loaded query={useBalance()} height="h-24">
        {(balance) => <Shown balance={balance} />}
      </Loaded>
    </Card>
  );
}

function Shown({
  balance: { available, held, used, total_deposited, credit },
}: {
  balance: Balance;
}) {
  const share = (usd: number) =>
    total_deposited === 0 ? 0 : Math.min(100, (usd / total_deposited) * 100);
  const parts = [
    { name: 'Used', usd: used, color: 'bg-accent' },
    { name: 'Held by running calls', usd: held, color: 'bg-held' },
    { name: 'Available', usd: available, color: 'bg-sunk border border-edge' },
  ];
  return (
    <div className="grid gap-3">
      <p>
        <Money usd={available} className="text-3xl font-semibold!" />{' '}
        <span className="text-soft">available</span>
      </p>
      <div
        role="img"
        aria-label={`Of ${Amount.ofUsd(total_deposited).short} deposited, ${Amount.ofUsd(used).short} is used and ${Amount.ofUsd(held).short} is held.`}
        className="flex h-2 overflow-hidden rounded-full bg-sunk"
      >
        <span className="bg-accent" style={{ width: `${share(used)}%` }} />
        <span className="bg-held" style={{ width: `${share(held)}%` }} />
      </div>
      <ul className="flex flex-wrap gap-x-6 gap-y-1">
        {parts.map(({ name, usd, color }) => (
          <li key={name} className="flex items-center gap-2">
            <span className={`size-2.5 rounded-sm ${color}`} />
            <span className="text-soft">{name}</span> <Money usd={usd} exact />
          </li>
        ))}
        <li>
          <span className="text-soft">= deposited</span> <Money usd={total_deposited} exact />
        </li>
        {credit === 0 ? null : (
          <li>
            <span className="text-soft">of that lent</span> <Money usd={credit} exact />
          </li>
        )}
      </ul>
    </div>
  );
}
