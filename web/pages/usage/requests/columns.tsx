import { Link } from '@tanstack/react-router';
import type { Call } from '../../../api/types.ts';
import { count } from '../../../parts/figures.ts';
import { Money } from '../../../parts/money.tsx';
import type { Column } from '../../../parts/table.tsx';
import { duration, Time } from '../../../parts/time.tsx';
import { KeyName } from '../key-name.tsx';
import { Outcome } from '../outcomes.tsx';

/** The columns of the list of requests. */
export function callColumns(names: ReadonlyMap<string, string> | undefined): Column<Call>[] {
  return [
    {
      title: 'Time',
      cell: ({ date, request_id }) => (
        <Link
          to="/usage/requests/$id"
          params={{ id: request_id }}
          className="underline decoration-line underline-offset-2 hover:decoration-ink"
        >
          <Time at={date} short />
        </Link>
      ),
    },
    {
      title: 'Outcome',
      cell: ({ outcome, error_code }) => (
        <span className="flex flex-wrap items-baseline gap-x-2">
          <Outcome outcome={outcome} />
          {error_code === null ? null : (
            <code className="text-[0.82em] text-soft">{error_code}</code>
          )}
        </span>
      ),
    },
    { title: 'Model', cell: ({ logical_model }) => <ModelName name={logical_model} /> },
    {
      title: 'Key',
      onPhone: false,
      cell: ({ api_key_id }) => <KeyName id={api_key_id} names={names} />,
    },
    {
      title: 'Tokens',
      align: 'right',
      onPhone: false,
      cell: ({ usage }) => <InAndOut usage={usage} />,
    },
    {
      title: 'Time to end',
      align: 'right',
      onPhone: false,
      cell: ({ duration_ms }) =>
        duration_ms === null ? (
          <None />
        ) : (
          <span className="whitespace-nowrap">{duration(duration_ms)}</span>
        ),
    },
    { title: 'Cost', align: 'right', cell: ({ amount }) => <Money usd={amount} /> },
  ];
}

/** Tokens of the prompt, also from the cache and written to it, and tokens of the answer. */
function InAndOut({ usage }: { usage: Call['usage'] }) {
  const { input_tokens, cached_input_tokens, cache_write_tokens, output_tokens } = usage;
  const input = input_tokens + cached_input_tokens + cache_write_tokens;
  if (input + output_tokens === 0) return <None />;
  return (
    <span
      className="whitespace-nowrap"
      title={`${count(input)} in (${count(cached_input_tokens)} from the cache), ${count(output_tokens)} out`}
    >
      {count(input)} → {count(output_tokens)}
    </span>
  );
}

function ModelName({ name }: { name: string | null }) {
  if (name === null) return <None />;
  return (
    <bdi title={name} className="block max-w-36 truncate sm:max-w-64">
      {name}
    </bdi>
  );
}

const None = () => <span className="text-soft">–</span>;
