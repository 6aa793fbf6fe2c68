import { offersOf } from '../catalogue/contracts/families.ts';
import { isGenerationFamily } from '../catalogue/families.ts';
import type { ModelDeclaration } from '../catalogue/schema.ts';
import type { ChannelConfig } from '../upstreams/contract.ts';
import { unsentParameter } from '../upstreams/generation/sent-parameters.ts';

/**
 * Returns the declaration of a model. If no channel of the model can request the opposite of its
 * default `output_audio`, the returned declaration has `fixed_output_audio`. The model's contract
 * then accepts only the default.
 */
export function withFixedAudio(
  model: ModelDeclaration,
  channels: readonly Pick<ChannelConfig, 'protocol' | 'models'>[],
): ModelDeclaration {
  const { family, id } = model;
  if (!isGenerationFamily(family)) return model;
  const { output_audio } = offersOf(family, model.offers);
  if (output_audio === undefined) return model;
  const switched = {
    scene: 'video',
    operation: 'text-to-video',
    output_audio: !output_audio,
  } as const;
  const isFixed = channels.every(({ protocol, models }) => {
    const physical_model = models[id];
    if (physical_model === undefined) return true;
    return unsentParameter(protocol, physical_model, switched) === 'output_audio';
  });
  return isFixed ? { ...model, offers: { ...model.offers, fixed_output_audio: true } } : model;
}
