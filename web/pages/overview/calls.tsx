import { count, percent } from '../../parts/figures.ts';
import { figuresOf } from '../usage/explore/figures.ts';
import { Before } from './before.tsx';
import type { Picture } from './picture.ts';
import { type Seen, sinceOf } from './since.ts';
import { Stat } from './stat.tsx';

interface CallsProps {
  readonly hours: Picture['hours'];
  readonly errors: Picture['errors'];
  readonly seen: readonly Seen[];
}

/** How many calls there were in a day, and how many of them succeeded. */
export function Calls({ hours, errors, seen }: CallsProps) {
  const since = hours.data && sinceOf(hours.data.as_of, seen);
  const requests = (hours.data?.total.requests ?? 0) + (since?.calls ?? 0);
  return (
    <Stat
      title="Requests, 24 hours"
      to="/usage/requests"
      search={{ startDate: hours.data?.from, running: 'false', as_of: since?.as_of }}
      of={hours}
      below={<Success errors={errors} seen={seen} />}
    >
      {count(requests)}
    </Stat>
  );
}

function Success({ errors, seen }: Pick<CallsProps, 'errors' | 'seen'>) {
  const { data } = errors;
  if (data === undefined) return errors.error ? 'success unknown' : null;
  const since = sinceOf(data.as_of, seen);
  const requests = data.total.requests + since.calls;
  if (requests === 0) return 'none yet';
  const failed =
    Math.round((data.total.value ?? 0) * data.total.requests) + since.calls - since.succeeded;
  const success = figuresOf('error_rate');
  return (
    <>
      {percent((requests - failed) / requests)} succeeded
      <span className="block">
        <Before
          now={success.of(data.total.value)}
          before={success.of(data.total.previous?.value ?? null)}
          show={percent}
        />
      </span>
    </>
  );
}
