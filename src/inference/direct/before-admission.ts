/** What is known of a direct call before it is admitted. */
import type { ChannelActor } from '../../actors/channels/channel.ts';
import type { OwnServing } from '../../actors/channels/own-keys.ts';
import type { DirectModel } from '../../catalogue/catalogue.ts';
import { type DirectUsage, directCharge } from '../../catalogue/direct-price.ts';
import { feeToReserve, reservedPpm } from '../../catalogue/own-key-fee.ts';
import type { ChannelProtocol } from '../../protocols/names.ts';
import type { Caller } from '../call.ts';

/** The part of a direct call that decides about its highest price. */
interface BoundedCall {
  readonly model: DirectModel;
  readonly key: Caller;
  readonly own?: OwnServing | undefined;
  readonly max_units: DirectUsage;
}

/** Returns the channels whose protocols can send a direct call. */
export function directChannels(
  serving: readonly ChannelActor[],
  protocols: Partial<Record<ChannelProtocol, unknown>>,
): ChannelActor[] {
  return serving.filter(({ config }) => protocols[config.protocol] !== undefined);
}

/** Returns the most that a direct call may cost its key, nano-USD. */
export function mostOfDirect({ model, max_units, key, own }: BoundedCall): number {
  const list = directCharge(model.price, max_units);
  const ppm = own && reservedPpm(own.fee_ppm, key.cap_counts);
  return ppm === undefined ? list : feeToReserve(list, ppm);
}
