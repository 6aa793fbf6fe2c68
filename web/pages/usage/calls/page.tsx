import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { api } from '../../../api/client.ts';
import { useKeyNames } from '../../../api/key-names.ts';
import type { RunningCall, RunningCalls } from '../../../api/types.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Badge, type Tone } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { Copy } from '../../../parts/copy.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { count, counted } from '../../../parts/figures.ts';
import { Loaded } from '../../../parts/loaded.tsx';
import { Money } from '../../../parts/money.tsx';
import { type Column, Table } from '../../../parts/table.tsx';
import { duration, useNow } from '../../../parts/time.tsx';
import { KeyName } from '../key-name.tsx';
import { UsagePage } from '../tabs.tsx';

/** How often running calls are read while the page is in sight, ms. */
const READ_EVERY_MS = 1_000;
const PATH = '/v1/management/calls';

const STAGES: Readonly<Record<string, { readonly tone: Tone; readonly says: string }>> = {
  admitting: { tone: 'calm', says: 'Weir checks the key and reserves money' },
  reserved: { tone: 'calm', says: 'the money is reserved; Weir chooses a channel' },
  calling: { tone: 'warn', says: 'the provider has the call and sent nothing yet' },
  answering: { tone: 'good', says: 'the provider answers' },
};

/** A running call, and when it was seen. */
type SeenCall = RunningCall & { readonly seen_ms: number };

/** The calls that run now. */
export function CallsPage() {
  const [isFrozen, freeze] = useState(false);
  const query = useQuery({
    queryKey: ['running-calls'],
    queryFn: async ({ signal }) => {
      const list = await api.get<RunningCalls>(PATH, {}, signal);
      return { ...list, seen_ms: Date.now() };
    },
    refetchInterval: isFrozen ? false : READ_EVERY_MS,
    staleTime: 0,
  });
  const calls = query.data?.data ?? [];
  const names = useKeyNames(calls.map(({ api_key_id }) => api_key_id));
  return (
    <UsagePage
      title="Calls in flight"
      question="What runs now, how far is it, and what does it hold?"
      search={{}}
      acts={<Button onClick={() => freeze(!isFrozen)}>{isFrozen ? 'Go on live' : 'Freeze'}</Button>}
      call={<ApiCall path={PATH} />}
    >
      <Loaded query={query} height="h-64">
        {(list) => (
          <div className="grid min-w-0 gap-3">
            <p className="text-sm text-soft">
              {counted(list.total, 'call')} in flight, <Money usd={list.held} /> held
              {list.total > list.data.length
                ? `; the oldest ${count(list.data.length)} are listed`
                : ''}
              {list.silent_replicas > 0
                ? `. ${counted(list.silent_replicas, 'replica')} did not answer, so there may be more`
                : ''}
              . As of {new Date(list.seen_ms).toLocaleTimeString()}
            </p>
            {list.data.length === 0 ? (
              <Empty title="Nothing runs now">
                A call stands here from its arrival to its end: its stage, the tokens so far and the
                money that it holds. Ended calls are in{' '}
                <Link to="/usage/requests" className="text-accent underline">
                  Requests
                </Link>
                .
              </Empty>
            ) : (
              <Table<SeenCall>
                caption="Calls in flight, the oldest first"
                columns={columns(names, isFrozen)}
                rows={list.data.map((call) => ({ ...call, seen_ms: list.seen_ms }))}
                keyOf={({ request_id }) => request_id}
              />
            )}
          </div>
        )}
      </Loaded>
    </UsagePage>
  );
}

function columns(
  names: ReadonlyMap<string, string> | undefined,
  isFrozen: boolean,
): Column<SeenCall>[] {
  return [
    { title: 'Age', align: 'right', cell: (call) => <Age call={call} isFrozen={isFrozen} /> },
    {
      title: 'Stage',
      cell: ({ stage }) => (
        <span title={STAGES[stage]?.says}>
          <Badge tone={STAGES[stage]?.tone ?? 'calm'}>{stage}</Badge>
        </span>
      ),
    },
    { title: 'Model', cell: ({ logical_model }) => logical_model ?? '–' },
    {
      title: 'Key',
      onPhone: false,
      cell: ({ api_key_id }) => <KeyName id={api_key_id} names={names} />,
    },
    {
      title: 'Tokens so far',
      align: 'right',
      onPhone: false,
      cell: ({ output_tokens_so_far }) => count(output_tokens_so_far),
    },
    { title: 'Held', align: 'right', cell: ({ held }) => <Money usd={held} /> },
    {
      title: 'Request',
      onPhone: false,
      cell: ({ request_id }) => (
        <Copy text={request_id} what="request id" shown={`${request_id.slice(0, 12)}…`} />
      ),
    },
  ];
}

/** The age of a call, counted on between two reads. */
function Age({ call, isFrozen }: { call: SeenCall; isFrozen: boolean }) {
  const now = useNow(isFrozen ? 3_600_000 : 200);
  const [shown, show] = useState(call.age_ms);
  useEffect(() => {
    if (!isFrozen) show(call.age_ms + Math.max(0, now - call.seen_ms));
  }, [now, call, isFrozen]);
  return <span className="whitespace-nowrap">{duration(shown)}</span>;
}
