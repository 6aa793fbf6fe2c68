/** Whether another chat model can serve a call that moves to it. */
import type { ChannelActor } from '../../actors/channels/channel.ts';
import type { Channels } from '../../actors/channels/channels.ts';
import type { OwnKeys } from '../../actors/channels/own-keys.ts';
import type { CatalogueModel } from '../../catalogue/catalogue.ts';
import { Budget } from '../budget/budget.ts';
import { outputBound } from '../budget/output-bound.ts';
import type { InferenceCall } from '../call.ts';
import { pricedCall } from '../priced-call.ts';
import { channelsFor } from '../routing/able-channels.ts';

const NO_MAXIMUM = Number.MAX_SAFE_INTEGER;

/** Returns the call as a call of another model. */
export function callOf(call: InferenceCall, model: InferenceCall['model']): InferenceCall {
  return { ...call, model, body: { ...call.body, model: model.id } };
}

/**
 * True if the call's parameters have a price and a channel with its model, and its input and output fit. Throws
 * WeirError if a parameter has none.
 */
export function isAbleToServe(deps: ServingDeps, given: InferenceCall): boolean {
  const call = pricedCall(given);
  const { model, protocol, body, body_text } = call;
  const asked = outputBound(protocol, body, NO_MAXIMUM).tokens_per_answer;
  if (asked < NO_MAXIMUM && asked > model.max_output_tokens) return false;
  // A token has at least one byte, so most inputs need no count.
  const isLong = Buffer.byteLength(body_text) > model.context_window;
  if (isLong && new Budget(call).input_tokens > model.context_window) return false;
  return channelsFor(servingOf(deps, model, call.key.organization_id), call).length > 0;
}

/** Where the channels of models are found. */
interface ServingDeps {
  readonly channels: Pick<Channels, 'serving'>;
  readonly own?: Pick<OwnKeys, 'serving'>;
}

/** Returns the channels that may serve a model for an organization: those of its own keys, and the platform's. */
export function servingOf(
  { channels, own }: ServingDeps,
  { id }: Pick<CatalogueModel, 'id'>,
  organization_id: string,
): readonly ChannelActor[] {
  const found = own?.serving(organization_id, id);
  if (!found) return channels.serving(id);
  return found.mode === 'only' ? found.channels : [...found.channels, ...channels.serving(id)];
}
