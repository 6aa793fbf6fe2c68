import type { CallInFlight } from '../../../api/types.ts';
import { Money } from '../../../parts/money.tsx';
import { Table } from '../../../parts/table.tsx';
import { duration } from '../../../parts/time.tsx';
import { moneyOf } from './river.ts';

interface CallTableProps {
  readonly calls: readonly CallInFlight[];
  /** The title of the column with the money. */
  readonly money: string;
  readonly keyName: (id: string) => string;
  readonly choose: (request_id: string) => void;
}

/** The calls of the river, or of one box of it, as a list. */
export function CallTable({ calls, money, keyName, choose }: CallTableProps) {
  return (
    <Table<CallInFlight>
      caption="Calls, the oldest first"
      rows={calls}
      keyOf={({ request_id }) => request_id}
      onOpen={({ request_id }) => choose(request_id)}
      columns={[
        {
          title: 'Age',
          align: 'right',
          cell: ({ age_ms }) => <span className="whitespace-nowrap">{duration(age_ms)}</span>,
        },
        { title: 'Stage', cell: ({ stage }) => stage },
        {
          title: 'Call',
          cell: ({ request_id, logical_model }) => (
            <button
              type="button"
              className="text-left text-accent hover:underline"
              onClick={() => choose(request_id)}
            >
              {logical_model ?? request_id}
            </button>
          ),
        },
        {
          title: 'Key',
          onPhone: false,
          cell: ({ api_key_id }) => <bdi>{keyName(api_key_id)}</bdi>,
        },
        { title: money, align: 'right', cell: (call) => <Money usd={moneyOf(call)} /> },
      ]}
    />
  );
}
