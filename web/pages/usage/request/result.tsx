import { Link } from '@tanstack/react-router';
import type { Call } from '../../../api/types.ts';
import { Money } from '../../../parts/money.tsx';
import { duration, Time } from '../../../parts/time.tsx';
import { Outcome } from '../outcomes.tsx';
import { FAULTS, fixOf } from './fault.ts';

/** How a call ended, and if not well: whose it is, and what mends it. */
export function Result({ call }: { call: Call }) {
  const { outcome, outcome_text, status, error_code, fault, amount, duration_ms, date } = call;
  const fix = fixOf(error_code, fault);
  return (
    <div className="grid gap-3 rounded-box border border-line bg-card p-4">
      <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
        <Outcome outcome={outcome} />
        <span>{outcome_text}</span>
        {status === null ? null : <span className="text-soft">HTTP {status}</span>}
        <span className="text-soft">
          <Time at={date} />
        </span>
        <span className="ml-auto flex flex-wrap gap-x-4">
          {duration_ms === null ? null : <span className="figures">{duration(duration_ms)}</span>}
          <Money usd={amount} className="font-medium" />
        </span>
      </div>
      {fix === undefined ? null : (
        <div className="grid gap-1 border-t border-line pt-3">
          <p>
            {fault === null ? null : (
              <strong className="font-semibold">{FAULTS[fault] ?? fault}</strong>
            )}{' '}
            {error_code === null ? null : <code className="text-sm text-bad">{error_code}</code>}
          </p>
          <p className="text-soft">
            {fix.says} <FixLink call={call} to={fix.to} />
          </p>
        </div>
      )}
    </div>
  );
}

function FixLink({ call, to }: { call: Call; to: 'key' | 'balance' | 'debug' | undefined }) {
  const style = 'text-accent underline underline-offset-2';
  if (to === 'key') {
    return (
      <Link to={`/keys/${call.api_key_id}` as string} className={style}>
        Open the key
      </Link>
    );
  }
  if (to === 'balance') {
    return (
      <Link to={'/billing' as string} className={style}>
        See the balance
      </Link>
    );
  }
  return null;
}
