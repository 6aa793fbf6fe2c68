import type { CallDetail } from '../../../api/types.ts';
import { Amount } from '../../../parts/amount.ts';
import { Copy } from '../../../parts/copy.tsx';
import { Money } from '../../../parts/money.tsx';

/** What a call cost, to the nano-dollar. */
export function Charge({ call }: { call: CallDetail }) {
  const { amount, list_price, billing_transaction_id, outcome } = call;
  const absorbed = Amount.ofUsd(list_price).minus(Amount.ofUsd(amount));
  if (billing_transaction_id === undefined) {
    return (
      <p className="text-soft">
        {outcome === 'accepted'
          ? 'Nothing is charged yet. The money is held until the task or the batch ends.'
          : 'Nothing was charged.'}
      </p>
    );
  }
  return (
    <div className="grid gap-3">
      <dl className="grid grid-cols-[minmax(0,1fr)_auto] gap-y-1.5">
        {absorbed.nano > 0n ? (
          <>
            <dt>Price</dt>
            <dd className="text-right">
              <Money usd={list_price} exact />
            </dd>
            <dt>Absorbed by the platform, beyond the cap or the balance</dt>
            <dd className="text-right figures">−{absorbed.exact}</dd>
          </>
        ) : null}
        <dt className="font-medium">Charged</dt>
        <dd className="text-right font-medium">
          <Money usd={amount} exact />
        </dd>
      </dl>
      <p className="text-sm">
        <Copy text={billing_transaction_id} what="billing transaction id" />
      </p>
    </div>
  );
}
