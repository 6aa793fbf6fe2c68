import type { ChannelConfig } from '../../upstreams/contract.ts';

/** The date at the end of a provider's name, e.g. `-2024-08-06` or `-20250514`. */
const DATE = /-(?:\d{4}-\d{2}-\d{2}|\d{8})$/;

/**
 * Returns a function that finds the public model of a provider's name on a channel. A provider may
 * bill a dated version under its own name, so a date at the end is ignored if no name has it.
 */
export function publicNames(
  configs: readonly Pick<ChannelConfig, 'id' | 'models'>[],
): (channel_id: string, provider_model: string) => string | undefined {
  const names = new Map<string, string>();
  const keyOf = (channel_id: string, name: string) =>
    JSON.stringify([channel_id, name.toLowerCase()]);
  for (const { id, models } of configs) {
    for (const [model, physical] of Object.entries(models)) {
      names.set(keyOf(id, physical), model);
    }
  }
  return (channel_id, name) =>
    names.get(keyOf(channel_id, name)) ?? names.get(keyOf(channel_id, name.replace(DATE, '')));
}
