import { Amount } from './amount.ts';

interface MoneyProps {
  /** USD, as the API sends it; null or undefined is unknown, which is not zero. */
  readonly usd: number | null | undefined;
  /** Shows every digit down to the nano-dollar. */
  readonly exact?: boolean;
  /** So many decimals, so that the amounts of one column are aligned. */
  readonly places?: number | undefined;
  /** What is shown instead of an unknown amount. */
  readonly unknown?: string;
  readonly className?: string;
}

/** An amount of money. The exact amount, to the nano-dollar, is its title. */
export function Money(props: MoneyProps) {
  const { usd, exact = false, places, unknown = 'unknown', className = '' } = props;
  if (usd === null || usd === undefined) return <span className="text-soft">{unknown}</span>;
  const amount = Amount.ofUsd(usd);
  return (
    <span className={`figures whitespace-nowrap ${className}`} title={`${amount.exact} USD`}>
      {exact ? amount.exact : places === undefined ? amount.short : amount.rounded(places)}
    </span>
  );
}
