import { queryOptions, useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { Balance, RunningCalls } from '../../api/types.ts';
import { IN_FLIGHT_KEY } from '../../live/live-events.tsx';
import { Amount } from '../../parts/amount.ts';
import { counted } from '../../parts/figures.ts';
import { Money } from '../../parts/money.tsx';
import { duration } from '../../parts/time.tsx';
import { Before } from './before.tsx';
import { Calls } from './calls.tsx';
import type { Picture } from './picture.ts';
import { Spend } from './spend.tsx';
import { Stat } from './stat.tsx';

/** The read of the balance. */
export const balanceNow = queryOptions({
  queryKey: ['balance'],
  queryFn: ({ signal }) => api.get<Balance>('/v1/management/balance', {}, signal),
});

/** The count of the calls that run. After this read, events count them. */
export const callsInFlight = queryOptions({
  queryKey: IN_FLIGHT_KEY,
  queryFn: ({ signal }): Promise<Pick<RunningCalls, 'total' | 'held' | 'silent_replicas'>> =>
    api.get<RunningCalls>('/v1/management/calls', {}, signal),
});

/** The figures at the top of the overview. */
export function Figures({ picture }: { picture: Picture }) {
  const { months, hours, errors, first_token, saved, seen } = picture;
  const balance = useQuery(balanceNow);
  const calls = useQuery(callsInFlight);
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-3">
      <Spend months={months} seen={seen} />
      <Calls hours={hours} errors={errors} seen={seen} />
      <Stat
        title="Time to first token, 24 hours"
        to="/usage"
        search={{ metric: 'first_token_mean', range: '24h', group: 'none' }}
        of={first_token}
        below={
          <Before
            now={first_token.data?.total.value}
            before={first_token.data?.total.previous?.value}
            show={duration}
          />
        }
      >
        {first_token.data?.total.value == null ? (
          <span className="text-soft">no stream yet</span>
        ) : (
          duration(first_token.data.total.value)
        )}
      </Stat>
      <Stat
        title="Saved by the cache, 24 hours"
        to="/cache"
        of={saved}
        below={
          <Before
            now={saved.data?.total.value}
            before={saved.data?.total.previous?.value}
            show={(usd) => Amount.ofUsd(usd).short}
          />
        }
      >
        <Money usd={saved.data?.total.value} />
      </Stat>
      <Stat
        title="Balance"
        to="/billing"
        of={balance}
        below={
          <>
            <Money usd={balance.data?.held} /> held by running calls and tasks
          </>
        }
      >
        <Money usd={balance.data?.available} className="font-semibold" />
      </Stat>
      <Stat
        title="In flight"
        to="/usage/calls"
        of={calls}
        below={
          <>
            <Money usd={calls.data?.held} /> held
            {calls.data && calls.data.silent_replicas > 0 ? ', some replicas are silent' : ''}
          </>
        }
      >
        {counted(calls.data?.total ?? 0, 'call')}
      </Stat>
    </div>
  );
}
