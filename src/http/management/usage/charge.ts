import type { Sql } from 'postgres';
import { listPrices, type RecordedPrice } from '../../../../db/prices/prices.ts';
import type { RecordedPart } from '../../../../db/records/record.ts';
import type { CallRow } from '../../../../db/usage/calls.ts';
import { partsAt } from '../../../catalogue/recorded-price.ts';

/** Decimal places of the exact amounts below. A price has 12, and a quantity at most 12. */
const PLACES = 24;
const QUANTITY_PLACES = 12;
const PICO_PLACES = 12;
const NANO_PLACES = 9;
/** Prices of these units are shown for a million. */
const BY_THE_MILLION: ReadonlySet<string> = new Set(['token', 'character']);
const MILLION = 1_000_000;

/**
 * Returns the arithmetic of a call's charge. The amounts of `lines` add up exactly to `amount`, which is
 * the charge. All amounts and prices are decimal texts in USD. `state`:
 *
 * - `priced`: the lines explain the charge.
 * - `unpriced`: no price on record gives exactly this charge, so `lines` is empty and `reason` says so.
 * - `free`: nothing was charged. `held`: a task holds money until it ends.
 *
 * The price of a chat or direct call is the latest one of its time that gives exactly the charge. So an
 * answer never shows a price at which the call was not charged. A task keeps its own arithmetic.
 */
export async function chargeOf(sql: Sql, row: CallRow) {
  const amount = decimal(scaled(row.charged_nano_usd, NANO_PLACES));
  if (row.billing_id === null) {
    const isHeld = row.outcome === 'accepted' && row.task_id !== null;
    return answer(isHeld ? 'held' : 'free', amount);
  }
  const prices = await listPrices(sql, row.model, row.settled_at ?? row.at);
  const kept = row.detail?.charge;
  const found = kept ? { parts: kept, price: prices[0] } : matching(prices, row);
  if (!found) {
    return answer('unpriced', amount, { reason: 'No price on record gives exactly this charge.' });
  }
  const lines = linesOf(found.parts, row);
  return answer('priced', amount, { lines, price: found.price });
}

/** The explanation of a charge. */
interface Explained {
  readonly lines?: readonly ChargeLine[];
  readonly price?: RecordedPrice | undefined;
  readonly reason?: string;
}

function answer(
  state: 'priced' | 'unpriced' | 'free' | 'held',
  amount: string,
  { lines = [], price, reason }: Explained = {},
) {
  const { since, provenance } = price ?? {};
  return {
    state,
    lines,
    amount,
    currency: 'USD',
    price: since
      ? {
          since: since.toISOString(),
          date: provenance?.date ?? null,
          source: provenance?.source ?? null,
        }
      : null,
    reason: reason ?? null,
  };
}

/** Finds the first price that gives exactly the charge of a call. */
function matching(prices: readonly RecordedPrice[], row: CallRow) {
  const { detail } = row;
  const call = { ...row, units: detail?.units ?? {}, counts: detail?.counts ?? {} };
  for (const price of prices) {
    const parts = partsAt(price, call);
    if (parts && isRoundedUp(sumOf(parts), row.list_nano_usd)) return { parts, price };
  }
  return undefined;
}

/** One line of the arithmetic. A line without a quantity corrects the sum. */
interface ChargeLine {
  readonly kind: string;
  readonly quantity: number | null;
  readonly unit: string | null;
  /** The price of `per` units. */
  readonly price: string | null;
  readonly per: number | null;
  readonly when: RecordedPart['when'] | null;
  readonly amount: string;
}

function linesOf(parts: readonly RecordedPart[], row: CallRow): ChargeLine[] {
  const lines = parts.map(({ kind, quantity, unit, pico_usd, when }): ChargeLine => {
    const per = BY_THE_MILLION.has(unit) ? MILLION : 1;
    const price = decimal(scaled(pico_usd, PICO_PLACES) * BigInt(per));
    const amount = decimal(amountOf({ quantity, pico_usd }));
    return { kind, quantity, unit, price, per, when: when ?? null, amount };
  });
  const list = scaled(row.list_nano_usd, NANO_PLACES);
  const fee = scaled(row.charged_nano_usd + row.overrun_nano_usd, NANO_PLACES);
  const correction = (kind: string, amount: bigint): ChargeLine[] =>
    amount === 0n
      ? []
      : [
          {
            ...{ kind, quantity: null, unit: null, price: null, per: null, when: null },
            amount: decimal(amount),
          },
        ];
  return [
    ...lines,
    // A charge is rounded up once, to a whole nano-USD.
    ...correction('rounding', list - sumOf(parts)),
    // A call on an own key of the organization costs a fee.
    ...correction('own key', fee - list),
    // The platform pays what a call cost above the money that could be reserved for it.
    ...correction('absorbed', -scaled(row.overrun_nano_usd, NANO_PLACES)),
  ];
}

const sumOf = (parts: readonly RecordedPart[]) =>
  parts.reduce((sum, part) => sum + amountOf(part), 0n);

/** True if a sum, rounded up to nano-USD, is this charge. */
function isRoundedUp(sum: bigint, nano_usd: number): boolean {
  const rest = scaled(nano_usd, NANO_PLACES) - sum;
  return rest >= 0n && rest < scaled(1, NANO_PLACES);
}

/** Returns quantity × price in units of 10⁻²⁴ USD. */
function amountOf({ quantity, pico_usd }: Pick<RecordedPart, 'quantity' | 'pico_usd'>): bigint {
  return BigInt(quantity.toFixed(QUANTITY_PLACES).replace('.', '')) * BigInt(pico_usd);
}

/** Returns a whole number of 10^-places USD in units of 10⁻²⁴ USD. */
const scaled = (amount: number, places: number) => BigInt(amount) * 10n ** BigInt(PLACES - places);

/** Writes units of 10⁻²⁴ USD as a decimal text without zeros at its end. */
function decimal(amount: bigint): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(PLACES + 1, '0');
  const fraction = digits.slice(-PLACES).replace(/0+$/, '');
  const whole = `${amount < 0n ? '-' : ''}${digits.slice(0, -PLACES)}`;
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
