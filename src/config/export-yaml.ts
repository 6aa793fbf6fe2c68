import { stringify } from 'yaml';
import type { ModelOverride } from '../catalogue/schema.ts';
import type { ChannelConfig } from '../upstreams/contract.ts';
import type { Installation } from './installation.ts';
import { overridden } from './model-layers.ts';
import type { WeirYaml } from './schema.ts';

/**
 * Returns the text of a `weir.yaml` that does what this installation does, without rows. It has no key:
 * each key is a variable of the environment. `off` are the channels that operators switched off.
 */
export function exportYaml(now: Installation, off: ReadonlySet<string>): string {
  const { layers, sources } = now;
  const names = new VariableNames(layers.references);
  const channels = now.channels
    .filter(({ id }) => sources.get(id) !== 'simulator')
    .map((channel) => exportChannel(channel, now, names, off.has(channel.id)));
  const models = mergedOverrides([...layers.overrides, ...layers.yaml.models]);
  const { ranking, cache, own_keys, roles } = layers.yaml;
  const default_models = presetsIn(now);
  const body = stringify(
    { channels, models, default_models, ranking, cache, own_keys, roles },
    { lineWidth: 0, aliasDuplicateObjects: false },
  );
  return `${headOf(now, names)}\n${body}`;
}

/** Says what is not in the file. */
function headOf({ layers, sources }: Installation, { byChannel }: VariableNames): string {
  const isDemo = [...sources.values()].includes('simulator');
  return [
    'Exported by Weir. It does what the installation does, without rows of operators.',
    ...(byChannel.size > 0 ? ['Set these variables to the keys of the channels:'] : []),
    ...[...byChannel].map(([channel, name]) => `  ${name}: ${channel}`),
    ...(isDemo ? ['The channels of the demo lead to its simulator, and are left out.'] : []),
    ...[...layers.problems.keys()].map((key) => `The row of ${key} does not fit, and is left out.`),
  ]
    .map((line) => `# ${line}`)
    .join('\n');
}

function exportChannel(
  channel: ChannelConfig,
  { layers, sources }: Installation,
  names: VariableNames,
  is_off: boolean,
): object {
  const { id, models } = channel;
  const index =
    sources.get(id) === 'file' ? layers.yaml.channels.findIndex((each) => each.id === id) : -1;
  const declared =
    layers.yaml.channels[index] ?? layers.rows.find((row) => row.id === id) ?? channel;
  const api_key = `env:${names.of(id, index)}`;
  return { ...declared, api_key, enabled: declared.enabled && !is_off, models };
}

/** Returns one override for each model that has some. */
function mergedOverrides(overrides: readonly ModelOverride[]): ModelOverride[] {
  const merged = new Map<string, ModelOverride>();
  for (const override of overrides) {
    const earlier = merged.get(override.id);
    merged.set(override.id, earlier ? overridden(earlier, override) : override);
  }
  return [...merged.values()];
}

/** Returns the default models that operators or the file set. */
function presetsIn({ layers }: Installation): WeirYaml['default_models'] {
  const used = layers.items.filter(
    ({ kind, id }) => kind === 'preset' && !layers.problems.has(`preset ${id}`),
  );
  return {
    ...Object.fromEntries(used.map(({ id, value }) => [id, value['model']])),
    ...layers.yaml.default_models,
  };
}

/** The variables of the environment that have the keys of the channels. */
class VariableNames {
  readonly byChannel = new Map<string, string>();

  constructor(private readonly references: ReadonlyMap<string, string>) {}

  /**
   * Returns the name of the variable of a channel: that of the file, or one that no other channel has.
   * `index` is the place in the file, -1 for the channel of a row.
   */
  of(channel_id: string, index: number): string {
    const declared = this.references.get(`/channels/${index}/api_key`);
    const name = declared ?? this.free(`WEIR_KEY_${channel_id.toUpperCase().replaceAll('-', '_')}`);
    this.byChannel.set(channel_id, name);
    return name;
  }

  private free(name: string): string {
    const taken = new Set([...this.references.values(), ...this.byChannel.values()]);
    for (let number = 1; ; number += 1) {
      const candidate = number === 1 ? name : `${name}_${number}`;
      if (!taken.has(candidate)) return candidate;
    }
  }
}
