import { isOwnChannel } from '../../config/own-key-rows.ts';
import { errorBody } from '../../errors/render.ts';
import type { WeirError } from '../../errors/weir-error.ts';
import type { CallRecord } from '../../inference/records/call-record.ts';
import type { PlannedChannel, RoutePlan } from '../../inference/routing/plan.ts';
import { usd } from '../../json/usd.ts';
import type { RequestContext } from '../endpoint.ts';
import { pricesOf } from '../models/view.ts';

/** Returns the soft budgets that a call exceeds, and the model that it moves from, as the record of a call has them. */
export function softRecord(record: CallRecord | undefined): object {
  return { warnings: record?.reached ?? [], moved_from: record?.moved_from ?? null };
}

/** Returns a plan as the answer of a dry run has it. */
export function planRecord(plan: RoutePlan, { request_id }: RequestContext): object {
  const { model, most_nano_usd, tried, skipped, refusal } = plan;
  const { policy = 'weighted', hedge = false } = model.declaration.routing ?? {};
  // A call on own keys has no second attempt beside the first.
  const isOwn = isOwnChannel(tried[0]?.channel.config.id);
  const hedged = model.kind === 'chat' && hedge && !isOwn;
  const shown = (error: WeirError) => ({
    status: error.entry.status,
    ...errorBody(error, 'openai', request_id).error,
  });
  return {
    model: model.id,
    routing: {
      ...{ policy, hedge: hedged },
      // The second attempt of a hedged call starts if the first channel takes longer than this.
      hedge_after_ms: hedged ? (tried[0]?.channel.latency.p95_ms ?? null) : null,
    },
    // The price of the key is the same on all channels of the platform.
    price: { ...pricesOf(model), max_charge_usd: usd(most_nano_usd) },
    refusal: refusal ? shown(refusal) : null,
    channels: tried.map((each, index) => channelRecord(each, index, plan)),
    others: skipped.map(({ channel_id, reason, cause, until_ms, error }) => ({
      ...{ id: channel_id, reason, cause },
      until: until_ms === undefined ? null : new Date(until_ms).toISOString(),
      error: error ? shown(error) : null,
    })),
  };
}

function channelRecord(
  { channel, first_share, is_last_resort }: PlannedChannel,
  index: number,
  { model, most_nano_usd }: RoutePlan,
): object {
  const { id, protocol, models, priority, weight, cost_factor = 1 } = channel.config;
  return {
    ...{ id, place: index + 1, protocol, upstream_model: models[model.id] ?? model.id },
    ...{ state: channel.state, first_share, is_last_resort, priority, weight, cost_factor },
    // What the provider of this channel would bill for it at most. That of an own key bills its organization.
    max_cost_usd: isOwnChannel(id) ? null : usd(most_nano_usd * cost_factor),
  };
}
