import { useQuery } from '@tanstack/react-query';
import type { AlertDelivery } from '../../api/types.ts';
import { useCalmList } from '../../live/calm-list.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Attempts, answerOf } from '../../parts/attempts.tsx';
import { StateBadge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { ChoiceFilter } from '../../parts/choice-filter.tsx';
import { Empty } from '../../parts/empty.tsx';
import { counted } from '../../parts/figures.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { WaitingRows } from '../../parts/waiting-rows.tsx';
import { deliveriesList, endpointsQuery, PENDING_MS, REREAD_MS } from './data.ts';
import { kindName } from './kinds.ts';
import { type AlertsSearch, DELIVERY_STATES } from './search.ts';
import { SendAgain } from './send-again.tsx';

interface DeliveriesProps {
  readonly search: AlertsSearch;
  readonly change: (changed: AlertsSearch) => void;
  readonly canWrite: boolean;
}

/** Did the alerts arrive? */
export function Deliveries({ search, change, canWrite }: DeliveriesProps) {
  const { state, endpoint_id, alert_id } = search;
  const isFiltered = [state, endpoint_id, alert_id].some((each) => each !== undefined);
  const all = { state: undefined, endpoint_id: undefined, alert_id: undefined };
  const options = deliveriesList(search);
  const list = useCalmList<AlertDelivery>({
    ...options,
    idOf: ({ id }) => id,
    refresh_ms: (deliveries) =>
      deliveries.some(({ status }) => status === 'pending') ? PENDING_MS : REREAD_MS,
  });
  return (
    <Section title="Deliveries" acts={<Filters search={search} change={change} />}>
      <Loaded query={list.query} height="h-40">
        {(deliveries) =>
          deliveries.length === 0 ? (
            <Empty
              title={isFiltered ? 'No delivery fits' : 'No deliveries yet'}
              act={
                isFiltered ? (
                  <Button onClick={() => change(all)}>Show all deliveries</Button>
                ) : undefined
              }
            >
              Each alert is one delivery to each endpoint that receives its kind. If the receiver
              does not take it, Weir tries again for about eleven hours.
            </Empty>
          ) : (
            <>
              <WaitingRows count={list.waiting} what="delivery" show={list.showWaiting} />
              <ol
                aria-label="Deliveries"
                className="divide-y divide-line rounded-box border border-line bg-card"
              >
                {deliveries.map((delivery) => (
                  <DeliveryLine key={delivery.id} of={delivery} canWrite={canWrite} />
                ))}
              </ol>
              {list.more ? (
                <Button busy={list.isReadingMore} onClick={list.more}>
                  Show more
                </Button>
              ) : null}
            </>
          )
        }
      </Loaded>
      <ApiCall path={options.path} query={options.query} />
    </Section>
  );
}

function Filters({ search, change }: Omit<DeliveriesProps, 'canWrite'>) {
  const { data: endpoints = [] } = useQuery(endpointsQuery);
  return (
    <span className="flex flex-wrap items-center gap-2">
      {search.alert_id === undefined ? null : (
        <Button onClick={() => change({ alert_id: undefined })}>Show those of all alerts</Button>
      )}
      <span>
        <ChoiceFilter
          label="State of deliveries"
          all="any state"
          values={DELIVERY_STATES}
          chosen={search.state}
          choose={(state) => change({ state: state as AlertsSearch['state'] })}
        />
      </span>
      <span>
        <ChoiceFilter
          label="Endpoint of deliveries"
          all="any endpoint"
          values={endpoints.map(({ id, name }) => ({ value: id, name }))}
          chosen={search.endpoint_id}
          choose={(endpoint_id) => change({ endpoint_id })}
        />
      </span>
    </span>
  );
}

function DeliveryLine({ of: delivery, canWrite }: { of: AlertDelivery; canWrite: boolean }) {
  const { id, kind, endpoint_id, status, attempts, last_status, redeliveries } = delivery;
  const { data: endpoints } = useQuery(endpointsQuery);
  const endpoint = endpoints?.find((each) => each.id === endpoint_id);
  const isMail = endpoint?.type === 'mail';
  return (
    <li className="grid gap-2 px-4 py-3">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <span className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <StateBadge state={status} />
          <span className="font-medium">{kindName(kind)}</span>
          <span className="min-w-0 text-soft">
            to <bdi>{endpoint?.name ?? (endpoints ? 'a removed endpoint' : endpoint_id)}</bdi>
          </span>
          <span className="text-soft">
            <Time at={delivery.created_at} ago />
          </span>
        </span>
        {canWrite && status !== 'pending' && endpoint ? (
          <SendAgain of={delivery} to={endpoint.name} />
        ) : null}
      </div>
      <p className="text-sm text-soft">
        {counted(attempts, 'attempt')}, last{' '}
        {last_status === null ? 'not made yet' : answerOf(last_status, isMail)}
        {redeliveries > 0 ? `, sent again ${counted(redeliveries, 'time')}` : ''}
        {delivery.next_attempt_at === null ? null : (
          <>
            , next <Time at={delivery.next_attempt_at} ago />
          </>
        )}
      </p>
      <Attempts log={delivery.attempt_log} id={id} isMail={isMail} />
    </li>
  );
}
