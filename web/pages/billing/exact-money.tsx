import type { Amount } from '../../parts/amount.ts';

const DECIMALS = 9;

/** Every digit of an amount. Amounts below each other are aligned by their points. */
export function ExactMoney({ amount }: { amount: Amount }) {
  const { exact } = amount;
  const missing = DECIMALS - (exact.length - exact.indexOf('.') - 1);
  return (
    <span className="figures whitespace-nowrap" title={`${exact} USD`}>
      {exact}
      <span aria-hidden="true" className="invisible select-none">
        {'0'.repeat(missing)}
      </span>
    </span>
  );
}
