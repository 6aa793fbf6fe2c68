import type { ChannelActor } from '../../actors/channels/channel.ts';
import type { GenerationInput } from '../../catalogue/inputs.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { unsentParameter } from '../../upstreams/generation/sent-parameters.ts';

/**
 * Throws WeirError `invalid_request` if no channel of the model can send all parameters to its
 * provider (P18). The error names a parameter that cannot be sent, but no channel (P5). Does not
 * throw for a model without channels.
 */
export function refuseUnsent(
  channels: readonly Pick<ChannelActor, 'config'>[],
  model: string,
  input: GenerationInput,
): void {
  const unsent = channels.map(({ config }) =>
    unsentParameter(config.protocol, config.models[model] ?? '', input),
  );
  const [param] = unsent;
  if (param === undefined || unsent.includes(undefined)) return;
  const value: unknown = (input as unknown as Record<string, unknown>)[param];
  const shown = typeof value === 'boolean' || typeof value === 'number' ? ` ${value}` : '';
  throw new WeirError('invalid_request', `${model} does not take ${param}${shown}.`, {
    param,
    hint: `Leave ${param} out.`,
  });
}
