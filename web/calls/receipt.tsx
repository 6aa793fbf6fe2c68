import { useQuery } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import type { Call, List } from '../api/types.ts';
import { count } from '../parts/figures.ts';
import { GoLink } from '../parts/go-link.tsx';
import { Money } from '../parts/money.tsx';
import { duration } from '../parts/time.tsx';

/** How often the record of a call is read until it has its price, ms. */
const ASK_EVERY_MS = 700;
/** A call is recorded soon after its answer. After so many attempts the record is unknown. */
const MAX_ATTEMPTS = 30;

/** True while the price of a call may still change: its task runs. */
const isOpen = ({ outcome }: Call): boolean => outcome === 'accepted';

/**
 * Reads the record of a call from the list of calls, where a call that is not recorded yet is no error.
 * Throws if there is none.
 */
async function findRecord(request_id: string, signal: AbortSignal): Promise<Call> {
  const { data } = await api.get<List<Call>>('/v1/management/requests', { request_id }, signal);
  if (!data[0]) throw new Error('The call is not recorded yet.');
  return data[0];
}

/** What a call cost and how long it took, from its own record. */
export function Receipt({ request_id }: { request_id: string }) {
  const query = useQuery({
    queryKey: ['requests', 'receipt', request_id],
    queryFn: ({ signal }) => findRecord(request_id, signal),
    retry: MAX_ATTEMPTS,
    retryDelay: ASK_EVERY_MS,
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && isOpen(data) && ASK_EVERY_MS * 2,
  });
  const call = query.data;
  return (
    <p className="flex flex-wrap items-center gap-x-3 text-sm text-soft" data-receipt={request_id}>
      {call && !isOpen(call) ? (
        <>
          <span className="font-medium text-ink">
            <Money usd={call.amount} />
          </span>
          {call.duration_ms === null ? null : <span>{duration(call.duration_ms)}</span>}
          {call.time_to_first_token_ms === null ? null : (
            <span>first token {duration(call.time_to_first_token_ms)}</span>
          )}
          {call.usage.output_tokens ? (
            <span>
              {count(call.usage.input_tokens)} in, {count(call.usage.output_tokens)} out
            </span>
          ) : null}
        </>
      ) : (
        <span>{call || !query.isError ? 'Cost follows' : 'Cost unknown'}</span>
      )}
      <GoLink to={`/usage/requests/${request_id}`}>Request</GoLink>
    </p>
  );
}
