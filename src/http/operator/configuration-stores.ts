import type { ChannelRow } from '../../../db/channels/rows.ts';
import { setSwitch } from '../../../db/channels/switches.ts';
import type { TransactionSql } from '../../../db/client.ts';
import type { ConfiguredKind, RowState } from '../../../db/configuration/changes.ts';
import {
  findConfiguredItem,
  ITEM_KINDS,
  type ItemKind,
  lockItems,
  writeItem,
} from '../../../db/configuration/items.ts';
import { changedMembers } from '../../json/changed-members.ts';
import { channelSettingsOf } from './channel-settings.ts';
import {
  channelStateOf,
  channelTagOf,
  lockChannel,
  type Switched,
  writeChannelState,
} from './channel-state.ts';
import { stateOf } from './configuration-change.ts';

/** What a change may have changed. */
export const KINDS = [
  'channel',
  'channel_switch',
  ...ITEM_KINDS,
] as const satisfies ConfiguredKind[];

/** How the rows of one kind are read and written when a change is taken back. */
interface ConfigurationStore {
  /**
   * Locks a row. `tag` is what the entity tag of its object stands for. `isHidden` is true if the object
   * in use is another one: a channel of the file with the same id.
   */
  lock(
    tx: TransactionSql,
    id: string,
    isHidden: boolean,
  ): Promise<{ readonly state: RowState | null; readonly tag: object }>;
  write(tx: TransactionSql, id: string, state: RowState | null, isNew: boolean): Promise<void>;
  /** The changed members for the audit log, without secrets. */
  shown(
    before: RowState | null,
    after: RowState | null,
  ): { readonly before: object | null; readonly after: object | null };
  /** Members that have changes of their own. */
  readonly ignored: readonly string[];
}

const channelStore: ConfigurationStore = {
  async lock(tx, id, isHidden) {
    const { row, switched } = await lockChannel(tx, id);
    const tag = channelTagOf({ row: isHidden ? undefined : row, switched });
    return { state: row ? channelStateOf(row, switched) : null, tag };
  },
  write: writeChannelState,
  shown: (before, after) => changed(settingsIn(before), settingsIn(after)),
  ignored: ['switch'],
};

const switchStore: ConfigurationStore = {
  async lock(tx, id, isHidden) {
    const { row, switched } = await lockChannel(tx, id);
    const tag = channelTagOf({ row: isHidden ? undefined : row, switched });
    return { state: switched ? stateOf(switched) : null, tag };
  },
  write: (tx, id, state) => setSwitch(tx, id, state as Switched | null),
  shown: (before, after) => ({ before, after }),
  ignored: [],
};

const itemStore = (kind: ItemKind): ConfigurationStore => ({
  async lock(tx, id) {
    await lockItems(tx);
    const value = (await findConfiguredItem(tx, kind, id))?.value ?? null;
    return { state: value, tag: value ?? {} };
  },
  write: async (tx, id, state) => void (await writeItem(tx, { kind, id }, state)),
  shown: changed,
  ignored: [],
});

/** Returns the store of a kind. */
export function storeOf(kind: ConfiguredKind): ConfigurationStore {
  if (kind === 'channel') return channelStore;
  return kind === 'channel_switch' ? switchStore : itemStore(kind);
}

/** Returns the changed members; all of them if the row is new or gone. */
export function changed(before: object | null, after: object | null) {
  if (!before || !after) return { before, after };
  return changedMembers(before, after) ?? { before: {}, after: {} };
}

/** Returns what the audit log shows of a channel: everything but its key. */
function settingsIn(state: RowState | null): object | null {
  if (!state) return null;
  const row = state as unknown as ChannelRow;
  return channelSettingsOf({ ...row, api_key_changed_at: new Date(row.api_key_changed_at) });
}
