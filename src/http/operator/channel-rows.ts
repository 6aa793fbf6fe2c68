import { appendAudit } from '../../../db/audit/log.ts';
import {
  type ChannelRow,
  deleteChannelRow,
  findChannelRow,
  insertChannelRow,
  lockChannelNames,
  lockChannelRow,
  updateChannelRow,
} from '../../../db/channels/rows.ts';
import { countRunningTasks } from '../../../db/channels/switches.ts';
import type { TransactionSql } from '../../../db/client.ts';
import type { Operator } from '../../access/manager.ts';
import { sealChannelKey } from '../../config/row-channels.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { changedMembers } from '../../json/changed-members.ts';
import { withoutUndefined } from '../../json/object.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { requireMatch, withEtag } from '../etag.ts';
import { type ChangeDeps, changeOnce, isRepeatedChange } from '../management/change-once.ts';
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
import { channelNotFound, type OperatorDeps, type OperatorParts } from './channels.ts';
import { readOperatorBody } from './organization-change.ts';

/** The most channels that operators can make, as many as a `weir.yaml` may have. */
const MAX_ROWS = 1_000;
const validateCreate = validator(CreateChannelSchema);
const validateUpdate = validator(UpdateChannelSchema);
/** The account of a channel is its address and its key, so these members never change. */
const FIXED = ['id', 'protocol', 'base_url'];

const answerOf = (row: ChannelRow) => withEtag(json(channelRecord(row)), channelSettingsOf(row));

/** One change: its route, and the body as the operator sent it. */
interface Change {
  readonly route: string;
  readonly body: string;
}

/** The routes with which operators create, change and remove channels. */
export class ChannelRowRoutes {
  constructor(private readonly deps: OperatorDeps & Pick<ChangeDeps, 'answers_key'>) {}

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
    return this.change(context, operator, { route, body }, async (tx) => {
      if (!found) throw lateRepeat();
      const taken = await takenNames(tx, parts);
      const id = freeName(chosen, account, taken);
      const models = ticked ?? modelsFor(protocol, found);
      const sealed_key = sealChannelKey(parts.channel_keys, { id, ...account }, api_key);
      const row = await insertChannelRow(tx, {
        ...newSettings(withoutUndefined(settings), { ...accountOnly(account), models }),
        ...{ id, sealed_key },
      });
      await audit(tx, operator, route, id, { before: null, after: channelSettingsOf(row) });
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
      requireMatch(context.request, channelSettingsOf(known));
      requireServable(changes.models, protocolOf(known), parts.installation.now.offered());
      if (api_key !== undefined) await inspectFor(parts, accountOf(known, api_key), false);
    }
    return this.change(context, operator, { route, body }, async (tx) => {
      if (isRepeat) throw lateRepeat();
      const before = await lockChannelRow(tx, id);
      // The key was tested for one account. Another one may have the id by now.
      if (!before || before.created_at.getTime() !== known?.created_at.getTime()) {
        throw channelNotFound();
      }
      requireMatch(context.request, channelSettingsOf(before));
      const { api_key_changed_at, created_at, sealed_key, id: _, ...settings } = before;
      const after = await updateChannelRow(
        ...([tx, id, { ...settings, ...withoutUndefined(changes) }] as const),
        api_key === undefined ? undefined : sealChannelKey(parts.channel_keys, before, api_key),
      );
      const members = changedMembers(channelSettingsOf(before), channelSettingsOf(after));
      if (members) await audit(tx, operator, route, id, members);
      return answerOf(after);
    });
  };

  /** `DELETE /v1/operator/channels/{id}`. Refused while tasks run on the channel. */
  readonly remove: Handler = async (context) => {
    const operator = await this.deps.authentication.requireOperator(context);
    const parts = this.deps.operator();
    const id = rowNameOf(parts, context);
    const route = 'channel.delete';
    const response = await this.change(context, operator, { route, body: '' }, async (tx) => {
      const before = await lockChannelRow(tx, id);
      if (!before) throw channelNotFound();
      requireMatch(context.request, channelSettingsOf(before));
      const running = (await countRunningTasks(tx)).get(id) ?? 0;
      if (running > 0) throw tasksRun(running);
      await deleteChannelRow(tx, id);
      await audit(tx, operator, route, id, { before: channelSettingsOf(before), after: null });
      return json({ object: 'channel', id, deleted: true });
    });
    // The switch of the channel is gone, too.
    parts.announceSwitch(id);
    await parts.applySwitches().catch(() => undefined);
    return response;
  };

  private isRepeat(context: RequestContext, { actor }: Operator, route: string): Promise<boolean> {
    const { sql } = this.deps.operator();
    return isRepeatedChange({ sql }, context, { organization_id: null, actor_id: actor.id, route });
  }

  /**
   * Makes a change, and notifies all replicas, also if Weir does not know whether it was committed.
   * This replica has applied the change before the answer.
   */
  private async change(
    context: RequestContext,
    { actor }: Operator,
    { route, body }: Change,
    change: (tx: TransactionSql) => Promise<Response>,
  ): Promise<Response> {
    const { sql, announceChannels, applyChannels } = this.deps.operator();
    const { answers_key } = this.deps;
    const request = { organization_id: null, actor_id: actor.id, route, body };
    try {
      return await changeOnce({ sql, answers_key }, context, request, change);
    } finally {
      announceChannels();
      // If this read fails, it is repeated in the background; the change stands.
      await applyChannels().catch(() => undefined);
    }
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

function audit(
  tx: TransactionSql,
  { actor }: Operator,
  action: string,
  subject_id: string,
  members: { readonly before: object | null; readonly after: object | null },
): Promise<void> {
  return appendAudit(tx, { organization_id: null, actor, action, subject_id, ...members });
}

/** The error if the kept answer of a repeat expired while the repeat ran. */
function lateRepeat(): WeirError {
  const message = 'The answer of the first request is no longer kept.';
  return new WeirError('service_unavailable', message, { retry_after: 1 });
}

function tasksRun(running: number): WeirError {
  const tasks = running === 1 ? '1 task runs' : `${running} tasks run`;
  return new WeirError('conflict', `${tasks} on this channel; their results would be lost.`, {
    ...{ param: 'id', hint: 'Drain the channel, and delete it when its tasks have ended.' },
  });
}
