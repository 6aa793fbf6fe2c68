import type { Model } from '../api/types.ts';
import { Money } from '../parts/money.tsx';
import { leadingPrice, pricesOf } from './price.ts';

/** What a model costs, in one line: `$2.50 in, $10.00 out per million tokens`. */
export function PriceLine({ pricing }: { pricing: Model['pricing'] }) {
  const prices = pricesOf(pricing);
  const input = prices.find(({ what }) => what === 'Input');
  const output = prices.find(({ what }) => what === 'Output');
  const leading = leadingPrice(pricing);
  if (!leading) return <span className="text-soft">unpriced</span>;
  const isByToken = leading.per === 'per million tokens';
  return (
    <span>
      {isByToken && input && output ? (
        <>
          <Money usd={input.usd} /> in, <Money usd={output.usd} /> out
        </>
      ) : (
        <Money usd={leading.usd} />
      )}{' '}
      <span className="text-sm whitespace-nowrap text-soft">{leading.per}</span>
      {pricing.tiers?.length ? <span className="text-sm text-soft">, or more</span> : null}
    </span>
  );
}
