/**
 * The members of contexts and events that people may see. A member that is not on the list is left
 * out, so a new member is shown only if somebody put it here. No prompt, key or credential is in any
 * of them.
 */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  task: [
    // Context.
    ...['patient', 'announce', 'pinned_channel', 'tried', 'rounds', 'polls', 'asks'],
    ...['recollections', 'has_job', 'ending', 'cancel_requested', 'error_code', 'billing_id'],
    'progress',
    // Events.
    ...['deadline_ms', 'channel_id', 'random', 'retryable', 'more', 'busy', 'retry_after_ms'],
    ...['outputs', 'hopeless'],
  ],
  batch: ['counts', 'succeeded', 'errored', 'canceled', 'expired'],
  webhook: ['attempts', 'last_status', 'status', 'final', 'reason'],
  quota: [
    ...['granted', 'settled', 'reserved', 'in_flight', 'verdict', 'amount', 'missing', 'reason'],
    ...['exact', 'gone', 'keep', 'status'],
  ],
  channel: [
    ...['consecutive_failures', 'recent_success', 'samples', 'open_until', 'openings', 'slots'],
    ...['probe', 'reason', 'returns', 'failure', 'now', 'until', 'verdict'],
  ],
};

/** Members that name channels. Organizations see a name that means nothing (P5). */
const CHANNEL_MEMBERS = new Set(['pinned_channel', 'tried', 'channel_id']);

/** The `type` of an event, and of a verdict inside a context. `by` says that an operator caused the event. */
const ALWAYS = ['type', 'by'];

const ALLOWED: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(MEMBERS).map(([kind, members]) => [kind, new Set([...ALWAYS, ...members])]),
);

/** Replaces the id of a channel by a name that means nothing. Undefined for operators. */
type HideChannel = ((channel_id: string) => string) | undefined;

/**
 * Returns the members of a context or an event that the viewer may see. Members inside of members
 * are on the same list.
 */
export function shownMembers(
  kind: string,
  members: object,
  hide: HideChannel,
): Record<string, unknown> {
  const allowed = ALLOWED.get(kind);
  const shown: Record<string, unknown> = {};
  if (!allowed) return shown;
  for (const [name, value] of Object.entries(members)) {
    if (!allowed.has(name)) continue;
    const isHidden = hide !== undefined && CHANNEL_MEMBERS.has(name);
    shown[name] = isHidden ? hidden(value, hide) : shownValue(kind, value, hide);
  }
  return shown;
}

function shownValue(kind: string, value: unknown, hide: HideChannel): unknown {
  if (Array.isArray(value)) return value.map((item) => shownValue(kind, item, hide));
  if (typeof value === 'object' && value !== null) return shownMembers(kind, value, hide);
  return value;
}

function hidden(value: unknown, hide: (channel_id: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => hidden(item, hide));
  return typeof value === 'string' ? hide(value) : value;
}
