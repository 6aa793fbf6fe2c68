import { Amount } from '../../../parts/amount.ts';
import { Time } from '../../../parts/time.tsx';

/** Members that are amounts of money, nano-USD. */
const MONEY = new Set(['granted', 'settled', 'reserved', 'amount', 'missing', 'keep']);
/** Members that are times, ms since the epoch. */
const TIMES = new Set(['open_until', 'now', 'until']);
const SHARES = new Set(['recent_success']);

interface MemberValueProps {
  readonly kind: string;
  readonly member: string;
  readonly value: unknown;
}

/** The value of a member of a context or an event, as people read it. */
export function MemberValue({ kind, member, value }: MemberValueProps) {
  if (value === undefined || value === null) return <span className="text-soft">none</span>;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return <Figure kind={kind} member={member} value={value} />;
  if (Array.isArray(value)) {
    return value.length === 0 ? (
      <span className="text-soft">none</span>
    ) : (
      <code className="font-mono text-[0.92em]">{value.map(textOf).join(', ')}</code>
    );
  }
  if (typeof value === 'object') {
    return (
      <span className="inline-flex flex-wrap gap-x-3">
        {Object.entries(value).map(([name, inner]) => (
          <span key={name}>
            {name === 'type' ? null : <span className="text-soft">{name} </span>}
            <MemberValue kind={kind} member={name} value={inner} />
          </span>
        ))}
      </span>
    );
  }
  return <code className="font-mono text-[0.92em]">{textOf(value)}</code>;
}

function Figure({ kind, member, value }: { kind: string; member: string; value: number }) {
  if (kind === 'quota' && MONEY.has(member)) return <NanoMoney nano={value} />;
  if (kind === 'channel' && TIMES.has(member)) {
    return value === 0 ? (
      <span className="text-soft">none</span>
    ) : (
      <Time at={new Date(value).toISOString()} />
    );
  }
  if (SHARES.has(member)) return <span className="figures">{(value * 100).toFixed(1)} %</span>;
  return <span className="figures">{value}</span>;
}

/** An amount in nano-USD. Its title is the exact amount. */
export function NanoMoney({ nano }: { nano: number }) {
  const amount = Amount.ofNano(BigInt(nano));
  return (
    <span className="whitespace-nowrap figures" title={`${amount.exact} USD`}>
      {amount.short}
    </span>
  );
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
