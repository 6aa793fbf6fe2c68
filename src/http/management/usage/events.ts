import { parseAsOf, writeAsOf } from '../../../../db/usage/as-of.ts';
import { WeirError } from '../../../errors/weir-error.ts';
import type { FedChange } from '../../../inference/records/feed-stream.ts';
import { usd } from '../../../json/usd.ts';
import { checkedStream } from '../../checked-stream.ts';
import type { Handler } from '../../endpoint.ts';
import { balanceView } from '../balance-view.ts';
import { admitManager } from '../keys.ts';
import { callView } from './call-view.ts';
import { keyState } from './key-state.ts';
import type { UsageDeps } from './lines.ts';

/** The texts of changes: all streams of an organization send the same. */
const TEXTS = new WeakMap<FedChange, string>();

/** A client that was away for longer reads the lists again. */
const MAX_AWAY_MS = 10 * 60 * 1_000;

/**
 * `GET /v1/management/events`: what happens in the organization, as server-sent events. `usage`
 * counts the calls that were recorded since the last event and names the newest; `tasks` names the
 * tasks that were created or that ended; `keys` and `balance` have the money of the keys and of the
 * organization, first all of it and then what changed, at most once a second; `calls` counts the running
 * calls, at most every three seconds. The header `Last-Event-ID` resumes a stream. If the client was away
 * for more than ten minutes, the first event is `reset`.
 */
export function streamUsageEvents(deps: UsageDeps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    const { request } = context;
    const last = request.headers.get('last-event-id') ?? '';
    const since = last === '' ? undefined : parseAsOf(last);
    if (last !== '' && !since) {
      throw new WeirError('invalid_request', 'Last-Event-ID is not the id of an event.', {
        param: 'Last-Event-ID',
        hint: 'Send the id of the last event of this stream, or leave the header out.',
      });
    }
    const isLate = since !== undefined && Date.now() - since.at.getTime() > MAX_AWAY_MS;
    const stream = await deps.feed().open(organization_id, isLate ? undefined : since);
    return checkedStream({
      ...{ context, source: stream },
      ...(isLate ? { first: 'event: reset\ndata: {}\n\n' } : {}),
      admit: () => deps.authentication.requireManager(context),
      textOf: (change) => (change ? sharedTextOf(change) : ''),
    });
  };
}

function sharedTextOf(change: FedChange): string {
  const known = TEXTS.get(change);
  if (known !== undefined) return known;
  const text = textOf(change);
  TEXTS.set(change, text);
  return text;
}

/** Returns the events of a change. Only the last one has an id, so a change is resumed whole. */
function textOf({ as_of, counts, latest, tasks, money, in_flight }: FedChange): string {
  const events: string[] = [];
  if (money?.balance) {
    events.push(`event: balance\ndata: ${JSON.stringify(balanceView(money.balance))}\n\n`);
  }
  if (money && money.keys.length > 0) {
    events.push(`event: keys\ndata: ${JSON.stringify({ keys: money.keys.map(keyState) })}\n\n`);
  }
  if (in_flight) {
    const { total, held_nano_usd, silent_replicas } = in_flight;
    const data = { total, held: usd(held_nano_usd), currency: 'USD', silent_replicas };
    events.push(`event: calls\ndata: ${JSON.stringify(data)}\n\n`);
  }
  if (tasks.length > 0) {
    const data = tasks.map(({ id, status, model, scene }) => ({ id, status, model, scene }));
    events.push(`event: tasks\ndata: ${JSON.stringify({ tasks: data })}\n\n`);
  }
  if (counts.length > 0) {
    const data = {
      calls: counts.reduce((sum, { calls }) => sum + calls, 0),
      amount: usd(counts.reduce((sum, { charged_nano_usd }) => sum + charged_nano_usd, 0)),
      by_api_key: counts.map(({ key_id, outcome, calls, charged_nano_usd }) => ({
        ...{ api_key_id: key_id, outcome, calls, amount: usd(charged_nano_usd) },
      })),
      latest: latest.map(callView),
    };
    events.push(`event: usage\ndata: ${JSON.stringify(data)}\n\n`);
  }
  const last = events.pop() ?? '';
  return `${events.join('')}id: ${writeAsOf(as_of)}\n${last}`;
}
