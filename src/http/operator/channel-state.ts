import {
  type ChannelRow,
  deleteChannelRow,
  lockChannelNames,
  lockChannelRow,
  putChannelRow,
} from '../../../db/channels/rows.ts';
import {
  countRunningTasks,
  lockSwitch,
  type SwitchRow,
  setSwitch,
} from '../../../db/channels/switches.ts';
import type { TransactionSql } from '../../../db/client.ts';
import type { RowState } from '../../../db/configuration/changes.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { channelSettingsOf } from './channel-settings.ts';
import { stateOf } from './configuration-change.ts';

/** What an operator sets when he switches a channel. */
export type Switched = Pick<SwitchRow, 'state' | 'reason'>;

/** A channel as operators set it: its row if they made it, and its switch. */
export interface SetChannel {
  readonly row: ChannelRow | undefined;
  readonly switched: Switched | undefined;
}

/** Locks what operators set for a channel until the end of the transaction, and returns it. */
export async function lockChannel(tx: TransactionSql, id: string): Promise<SetChannel> {
  const switched = await lockSwitch(tx, id);
  return { row: await lockChannelRow(tx, id), switched };
}

/**
 * Returns what the entity tag of a channel stands for. A drained channel has another tag: who edits it
 * has to know that it is drained.
 */
export function channelTagOf({ row, switched }: SetChannel): object {
  const { state, reason } = switched ?? { state: null, reason: null };
  return {
    ...(row ? channelSettingsOf(row) : {}),
    switch: state === null ? null : { state, reason },
  };
}

/** Returns a channel as its changes keep it. `switch` is kept for a channel that is made again. */
export function channelStateOf(row: ChannelRow, switched: Switched | undefined): RowState {
  return { ...stateOf(row), switch: switched ? { ...stateOf(switched) } : null };
}

/** Writes a channel as a change kept it. Throws WeirError if tasks run on a channel that ends. */
export async function writeChannelState(
  tx: TransactionSql,
  id: string,
  state: RowState | null,
  isNew: boolean,
): Promise<void> {
  if (state === null) {
    await refuseRunning(tx, id);
    await deleteChannelRow(tx, id);
    return;
  }
  const { switch: switched, ...row } = state as unknown as ChannelRow & {
    readonly switch: Switched | null;
  };
  // Another operator may just have made a channel of this id. It must not be overwritten.
  if (isNew && (await lockChannelNames(tx)).includes(id)) throw channelExists();
  await putChannelRow(tx, row);
  if (isNew && switched) await setSwitch(tx, id, switched);
}

function channelExists(): WeirError {
  return new WeirError('conflict', 'There is another channel with this id now.', { param: 'seq' });
}

/** Throws WeirError while tasks run on a channel. */
export async function refuseRunning(tx: TransactionSql, id: string): Promise<void> {
  const running = (await countRunningTasks(tx)).get(id) ?? 0;
  if (running === 0) return;
  const tasks = running === 1 ? '1 task runs' : `${running} tasks run`;
  throw new WeirError('conflict', `${tasks} on this channel; their results would be lost.`, {
    ...{ param: 'id', hint: 'Drain the channel, and delete it when its tasks have ended.' },
  });
}
