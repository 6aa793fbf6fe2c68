import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../../api/client.ts';
import type { UsageQuery } from '../../api/types.ts';
import { Amount } from '../../parts/amount.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Money } from '../../parts/money.tsx';
import { Card } from '../../parts/page.tsx';
import { TimePlot } from '../../plots/time-plot.tsx';

const PATH = '/v1/management/usage/query';

/** What a key spent in the last 30 days, by day in the reader's zone. */
export function KeyUsage({ id }: { id: string }) {
  const query = {
    ...{ metric: 'cost', bucket: 'day', api_key_id: id },
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
  const usage = useQuery({
    queryKey: ['usage', 'of-key', id],
    queryFn: ({ signal }) => api.get<UsageQuery>(PATH, query, signal),
  });
  return (
    <Card className="grid gap-3">
      <Loaded query={usage} height="h-60">
        {(value) => <Plot usage={value} />}
      </Loaded>
      <ApiCall path={PATH} query={query} />
    </Card>
  );
}

const shortUsd = (value: number): string => Amount.ofUsd(value).short;

function Plot({ usage: { total, buckets } }: { usage: UsageQuery }) {
  const times = useMemo(() => buckets.map((iso) => Date.parse(iso)), [buckets]);
  const series = useMemo(() => [{ name: 'Spend', values: total.values }], [total.values]);
  return (
    <>
      <p>
        <Money usd={total.value} className="text-xl" />{' '}
        <span className="text-soft">
          in 30 days, {total.requests.toLocaleString()} {total.requests === 1 ? 'call' : 'calls'}
        </span>
      </p>
      <TimePlot title="Spend by day" times={times} series={series} format={shortUsd} height={180} />
    </>
  );
}
