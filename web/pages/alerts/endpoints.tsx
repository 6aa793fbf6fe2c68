import { useQuery } from '@tanstack/react-query';
import { ApiCall, curlOf } from '../../parts/api-call.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/page.tsx';
import { ENDPOINTS_PATH, ENDPOINTS_QUERY, endpointsQuery } from './data.ts';
import { EndpointLine } from './endpoint-line.tsx';

/** The places that receive alerts. */
export function Endpoints({ canWrite }: { canWrite: boolean }) {
  return (
    <Section title="Where alerts go">
      <Loaded query={useQuery(endpointsQuery)} height="h-28">
        {(endpoints) =>
          endpoints.length === 0 ? (
            <NoEndpoints />
          ) : (
            <ul className="divide-y divide-line rounded-box border border-line bg-card">
              {endpoints.map((endpoint) => (
                <EndpointLine key={endpoint.id} of={endpoint} canWrite={canWrite} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <ApiCall path={ENDPOINTS_PATH} query={ENDPOINTS_QUERY} />
    </Section>
  );
}

function NoEndpoints() {
  const body = { name: 'On call', type: 'webhook', url: 'https://ops.example.com/weir' };
  return (
    <Empty title="No endpoint yet" command={curlOf({ method: 'POST', path: ENDPOINTS_PATH, body })}>
      An endpoint receives alerts by webhook or mail: a cap is nearly used, the balance is low, a
      price changed. Weir looks only for what an endpoint receives.
    </Empty>
  );
}
