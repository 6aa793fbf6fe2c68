import {
  type ChannelRow,
  deleteChannelRow,
  findChannelRow,
  insertChannelRow,
  lockChannelNames,
  updateChannelRow,
} from '../../../db/channels/rows.ts';
import { findSwitch } from '../../../db/channels/switches.ts';
import type { TransactionSql } from '../../../db/client.ts';
import type { Operator } from '../../access/manager.ts';
import { sealChannelKey } from '../../config/row-channels.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { changedMembers } from '../../json/changed-members.ts';
import { withoutUndefined } from '../../json/object.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { requireMatch, withEtag } from '../etag.ts';
import { isRepeatedChange } from '../management/change-once.ts';
import { accountOf, inspectFor, modelsFor, protocolOf } from './channel-accounts.ts';
import {
  addressOf,
  CreateChannelSchema,
  channelRecord,
  channelSettingsOf,
  freeName,
  newSettings,
  requireServable,
  tidied,
  UpdateChannelSchema,
} from './channel-settings.ts';
import {
  channelStateOf,
  channelTagOf,
  lockChannel,
  refuseRunning,
  type Switched,
} from './channel-state.ts';
import { channelNotFound } from './channels.ts';
import {
  type ConfigurationDeps,
  changeConfiguration,
  recordChange,
} from './configuration-change.ts';
import type { OperatorParts } from './operator-parts.ts';
import { readOperatorBody } from './organization-change.ts';

/** The most channels that operators can make, as many as a `weir.yaml` may have. */
const MAX_ROWS = 1_000;
const validateCreate = validator(CreateChannelSchema);
const validateUpdate = validator(UpdateChannelSchema);
/** The account of a channel is its address and its key, so these members never change. */
const FIXED = ['id', 'protocol', 'base_url'];

const answerOf = (row: ChannelRow, switched?: Switched) =>
  withEtag(json(channelRecord(row)), channelTagOf({ row, switched }));

/** The routes with which operators create, change and remove channels. */
export class ChannelRowRoutes {
  constructor(private readonly deps: ConfigurationDeps) {}

  /** `POST /v1/operator/channels`. The key is tested first, and never shown again. */
  readonly create: Handler = async (context) => {
    const operator = await this.deps.authentication.requireOperator(context);
    const { value, text: body } = await readOperatorBody(context);
    const { id: chosen, ...request } = validateCreate(tidied(value));
    const { protocol, api_key, base_url: address, models: ticked, ...settings } = request;
    const parts = this.deps.operator();
    const account = { protocol, base_url: addressOf(address, protocol), api_key };
    requireServable(ticked, protocol, parts.installation.now.offered());
    const route = 'channel.create';
    const found = (await this.isRepeat(context, operator, route))
      ? undefined
      : await inspectFor(parts, account, address !== undefined);
    return changeConfiguration(this.deps, context, operator, { route, body }, async (tx) => {
      if (!found) throw lateRepeat();
      const taken = await takenNames(tx, parts);
      const id = freeName(chosen, account, taken);
      const models = ticked ?? modelsFor(protocol, found);
      const sealed_key = sealChannelKey(parts.channel_keys, { id, ...account }, api_key);
      const row = await insertChannelRow(tx, {
        ...newSettings(withoutUndefined(settings), { ...accountOnly(account), models }),
        ...{ id, sealed_key },
      });
      await recordChange(tx, operator, {
        ...{
          kind: 'channel',
          id,
          action: route,
          before: null,
          after: channelStateOf(row, undefined),
        },
        shown: { before: null, after: channelSettingsOf(row) },
      });
      return answerOf(row);
    });
  };

  /** `PATCH /v1/operator/channels/{id}`. A new key is tested before it replaces the old one. */
  readonly update: Handler = async (context) => {
    const operator = await this.deps.authentication.requireOperator(context);
    const { value, text: body } = await readOperatorBody(context);
    requireChangeable(value);
    const { api_key, ...changes } = validateUpdate(tidied(value));
    const parts = this.deps.operator();
    const id = rowNameOf(parts, context);
    const route = 'channel.update';
    const isRepeat = await this.isRepeat(context, operator, route);
    const known = isRepeat ? undefined : await findChannelRow(parts.sql, id);
    if (known) {
      // The test of a key takes a while, and is for nothing if the change is refused.
      const switched = await findSwitch(parts.sql, id);
      requireMatch(context.request, channelTagOf({ row: known, switched }));
      requireServable(changes.models, protocolOf(known), parts.installation.now.offered());
      if (api_key !== undefined) await inspectFor(parts, accountOf(known, api_key), false);
    }
    return changeConfiguration(this.deps, context, operator, { route, body }, async (tx) => {
      if (isRepeat) throw lateRepeat();
      const { row: before, switched } = await lockChannel(tx, id);
      // The key was tested for one account. Another one may have the id by now.
      if (!before || before.created_at.getTime() !== known?.created_at.getTime()) {
        throw channelNotFound();
      }
      requireMatch(context.request, channelTagOf({ row: before, switched }));
      const { api_key_changed_at, created_at, sealed_key, id: _, ...settings } = before;
      const after = await updateChannelRow(
        ...([tx, id, { ...settings, ...withoutUndefined(changes) }] as const),
        api_key === undefined ? undefined : sealChannelKey(parts.channel_keys, before, api_key),
      );
      const shown = changedMembers(channelSettingsOf(before), channelSettingsOf(after));
      if (shown) {
        const states = [before, after].map((each) => channelStateOf(each, switched));
        const [old = null, now = null] = states;
        const change = { kind: 'channel' as const, id, action: route, before: old, after: now };
        await recordChange(tx, operator, { ...change, shown });
      }
      return answerOf(after, switched);
    });
  };

  /** `DELETE /v1/operator/channels/{id}`. Refused while tasks run on the channel. */
  readonly remove: Handler = async (context) => {
    const operator = await this.deps.authentication.requireOperator(context);
    const parts = this.deps.operator();
    const id = rowNameOf(parts, context);
    const route = 'channel.delete';
    const response = await changeConfiguration(
      this.deps,
      context,
      operator,
      { route, body: '' },
      async (tx) => {
        const set = await lockChannel(tx, id);
        const { row: before, switched } = set;
        if (!before) throw channelNotFound();
        requireMatch(context.request, channelTagOf(set));
        await refuseRunning(tx, id);
        await deleteChannelRow(tx, id);
        await recordChange(tx, operator, {
          ...{ kind: 'channel', id, action: route, before: channelStateOf(before, switched) },
          ...{ after: null, shown: { before: channelSettingsOf(before), after: null } },
        });
        return json({ object: 'channel', id, deleted: true });
      },
    );
    // The switch of the channel is gone, too.
    parts.announceSwitch(id);
    await parts.applySwitches().catch(() => undefined);
    return response;
  };

  private isRepeat(context: RequestContext, { actor }: Operator, route: string): Promise<boolean> {
    const { sql } = this.deps.operator();
    return isRepeatedChange({ sql }, context, { organization_id: null, actor_id: actor.id, route });
  }
}

/** Returns the id in the path. Throws WeirError if `weir.yaml` or the demo has the channel. */
function rowNameOf({ installation }: OperatorParts, { params }: RequestContext): string {
  const id = params['id'] ?? '';
  const source = installation.now.sources.get(id);
  if (source === 'file') {
    const message = 'weir.yaml declares this channel, so no request can change it.';
    const hint = 'Change weir.yaml; Weir reloads the file at once.';
    throw new WeirError('conflict', message, { param: 'id', hint });
  }
  if (source === 'simulator') {
    const message = 'This channel of the demo leads to the simulator, and cannot be changed.';
    const hint = 'Make a channel. Then the channels of the simulator are gone.';
    throw new WeirError('conflict', message, { param: 'id', hint });
  }
  // PostgreSQL refuses a text with NUL.
  if (id.includes('\u0000')) throw channelNotFound();
  return id;
}

/** Throws WeirError if a change is empty, or names what never changes. */
function requireChangeable(value: Readonly<Record<string, unknown>>): void {
  const fixed = FIXED.find((name) => Object.hasOwn(value, name));
  if (fixed !== undefined) {
    throw new WeirError('invalid_request', `${fixed} of a channel cannot change.`, {
      ...{ param: fixed, hint: 'Make another channel, and delete this one.' },
    });
  }
  if (Object.keys(value).length > 0) return;
  throw new WeirError('invalid_request', 'At least one field is required.', { param: 'body' });
}

/** Returns all ids that a new channel cannot have. Throws WeirError if there are too many rows. */
async function takenNames(
  tx: TransactionSql,
  { installation }: OperatorParts,
): Promise<ReadonlySet<string>> {
  const rows = await lockChannelNames(tx);
  if (rows.length < MAX_ROWS) return new Set([...rows, ...installation.now.sources.keys()]);
  throw new WeirError('conflict', `Operators can make at most ${MAX_ROWS} channels.`, {
    hint: 'Delete a channel that you do not use.',
  });
}

const accountOnly = ({ protocol, base_url }: Pick<ChannelRow, 'protocol' | 'base_url'>) => ({
  ...{ protocol, base_url },
});

/** The error if the kept answer of a repeat expired while the repeat ran. */
function lateRepeat(): WeirError {
  const message = 'The answer of the first request is no longer kept.';
  return new WeirError('service_unavailable', message, { retry_after: 1 });
}
