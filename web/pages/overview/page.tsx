import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Money } from '../../parts/money.tsx';
import { Card, Page } from '../../parts/page.tsx';

/** Are we well, and what do we spend? */
export function OverviewPage() {
  const balance = useQuery({
    queryKey: ['balance'],
    queryFn: ({ signal }) => api.get<{ available: number }>('/v1/management/balance', {}, signal),
  });
  return (
    <Page
      title="Overview"
      question="Are we well, and what do we spend?"
      call={<ApiCall path="/v1/management/balance" />}
    >
      <Card>
        <Loaded query={balance} height="h-10">
          {(value) => <Money usd={value.available} className="text-2xl" />}
        </Loaded>
      </Card>
    </Page>
  );
}
