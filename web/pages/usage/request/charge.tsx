import type { Call, Charge as ChargeOfCall } from '../../../api/types.ts';
import { Copy } from '../../../parts/copy.tsx';
import { Money } from '../../../parts/money.tsx';
import { localTime } from '../../../parts/time.tsx';

/** What a call cost: each kind's quantity × price, adding up exactly to the charge. */
export function Charge({ call, charge }: { call: Call; charge: ChargeOfCall }) {
  const { state, lines, price, reason } = charge;
  if (state === 'free') return <p className="text-soft">Nothing was charged.</p>;
  if (state === 'held') {
    return (
      <p className="text-soft">Nothing is charged yet. The money is held until the task ends.</p>
    );
  }
  return (
    <div className="grid gap-3">
      <section tabIndex={0} aria-label="Arithmetic of the charge" className="overflow-x-auto">
        <table className="w-full text-left text-[0.9rem]">
          <caption className="sr-only">Quantity × price = amount</caption>
          <tbody>
            {lines.map((line) => (
              <Line key={`${line.kind} ${JSON.stringify(line.when)} ${line.price}`} line={line} />
            ))}
          </tbody>
          <tfoot>
            <tr className="border-t border-edge font-medium">
              <th scope="row" className="py-1.5 pr-3 font-medium">
                Charged
              </th>
              <td />
              <td className="py-1.5 text-right">
                <Money usd={call.amount} exact />
              </td>
            </tr>
          </tfoot>
        </table>
      </section>
      {state === 'unpriced' ? <p className="text-sm text-soft">{reason}</p> : null}
      {price === null ? null : (
        <p className="text-sm text-soft">
          {price.date === null ? 'Weir sells' : `The price is of ${price.date}. Weir sells`} at it
          since {localTime(price.since)}.{' '}
          {price.source === null ? null : <Source source={price.source} />}
        </p>
      )}
      {call.billing_transaction_id === undefined ? null : (
        <p className="text-sm">
          <Copy text={call.billing_transaction_id} what="billing transaction id" />
        </p>
      )}
    </div>
  );
}

const KINDS: Readonly<Record<string, string>> = {
  rounding: 'rounded up to a nano-dollar',
  absorbed: 'absorbed by the platform, beyond the cap or the balance',
};

function Line({ line }: { line: ChargeOfCall['lines'][number] }) {
  const { kind, quantity, unit, price, per, when, amount } = line;
  const units = per === null || per === 1 ? unit : `${per.toLocaleString()} ${unit}s`;
  return (
    <tr className="border-t border-line first:border-t-0">
      <th scope="row" className="py-1.5 pr-3 align-top font-normal">
        {KINDS[kind] ?? kind.replaceAll('_', ' ')}
        {!when ? null : (
          <span className="block text-sm text-soft">
            {Object.entries(when)
              .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${String(value)}`)
              .join(', ')}
          </span>
        )}
      </th>
      <td className="py-1.5 pr-3 text-right align-top text-soft figures">
        {quantity === null ? '' : `${quantity.toLocaleString()} × $${price} / ${units}`}
      </td>
      <td className="py-1.5 text-right align-top whitespace-nowrap figures">{dollars(amount)}</td>
    </tr>
  );
}

/** A decimal text as money. No digit is lost. */
const dollars = (text: string): string =>
  text.startsWith('-') ? `−$${text.slice(1)}` : `$${text}`;

/** Where a price is from. Only a web address of the catalogue becomes a link. */
function Source({ source }: { source: string }) {
  if (!/^https:\/\//.test(source)) return <span>{source}</span>;
  return (
    <a href={source} rel="noreferrer" target="_blank" className="text-accent underline">
      {new URL(source).host}
    </a>
  );
}
