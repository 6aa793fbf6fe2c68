import type { ConfiguredItem } from '../../db/configuration/items.ts';
import type { ChannelConfig, TransportName } from '../upstreams/contract.ts';
import { type ChannelSource, type Installation, installationOf } from './installation.ts';
import type { WeirYaml } from './schema.ts';

type Listener = (now: Installation) => void;

/** The configuration file, or the demo that stands for it. */
export interface Declared {
  readonly yaml: WeirYaml;
  readonly source: Exclude<ChannelSource, 'row'>;
  /** The HTTP client of channels that name none. */
  readonly transport: TransportName;
  /** Which values are variables of the environment: their names, by JSON pointer. */
  readonly references?: ReadonlyMap<string, string>;
}

/**
 * Holds the current installation: channels, models and roles. It merges the configuration file with
 * what operators configured. Code that uses the installation reads `now` each time, or
 * subscribes with `onChange`.
 */
export class CurrentInstallation {
  private readonly listeners: Listener[] = [];
  private rows: readonly ChannelConfig[] = [];
  private items: readonly ConfiguredItem[] = [];
  private latest: Installation;

  /** Throws if a model of the configuration is incomplete. */
  constructor(private declared: Declared) {
    this.latest = this.merged();
  }

  get now(): Installation {
    return this.latest;
  }

  /** Calls `listener` after each change. */
  onChange(listener: Listener): void {
    this.listeners.push(listener);
  }

  /**
   * Replaces the configuration file and calls all listeners. Calls in flight keep the previous
   * installation. Throws if a model is incomplete; then the previous installation stays.
   */
  replace(declared: Declared): void {
    const previous = this.declared;
    this.declared = declared;
    try {
      this.apply(this.merged());
    } catch (error) {
      this.declared = previous;
      throw error;
    }
  }

  /**
   * Replaces the channels that operators made, and the models, prices, routing and presets that they
   * set. Calls all listeners if they differ from before.
   */
  replaceRows(rows: readonly ChannelConfig[], items: readonly ConfiguredItem[] = []): void {
    // After each gap of the bus the rows are read again, and are mostly the same.
    if (Bun.deepEquals([rows, items], [this.rows, this.items])) return;
    this.rows = rows;
    this.items = items;
    this.apply(this.merged());
  }

  private merged(): Installation {
    const { yaml, source, transport, references = new Map() } = this.declared;
    const { rows, items } = this;
    return installationOf(yaml, transport, { source, rows, items, references });
  }

  private apply(next: Installation): void {
    this.latest = next;
    for (const listener of this.listeners) listener(next);
  }
}
