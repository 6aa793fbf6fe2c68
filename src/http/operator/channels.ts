import { Type } from '@sinclair/typebox';
import { type ChannelRow, findChannelRow, readChannelRows } from '../../../db/channels/rows.ts';
import {
  countRunningTasks,
  findSwitch,
  readSwitches,
  type SwitchRow,
  setSwitch,
} from '../../../db/channels/switches.ts';
import type { Operator } from '../../access/manager.ts';
import type { ChannelAccount } from '../../actors/channels/account.ts';
import type { ChannelActor } from '../../actors/channels/channel.ts';
import { WINS_RULE } from '../../config/which-wins.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { dialectOfAddress } from '../../protocols/dialects.ts';
import { MAX_MANAGEMENT_BODY_BYTES, readJsonObject } from '../body.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { requireMatch, withEtag } from '../etag.ts';
import { OPERATORS } from '../operators.ts';
import { channelTagOf, lockChannel, type Switched } from './channel-state.ts';
import { recordChange, stateOf } from './configuration-change.ts';
import { FAULT_HINTS } from './fault-hints.ts';
import type { OperatorDeps, OperatorParts } from './operator-parts.ts';

/** The body of the routes that switch a channel. */
export const SwitchSchema = Type.Object(
  { reason: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })) },
  { additionalProperties: false },
);
/** `POST /v1/operator/channels/{id}/test` */
export const TestChannelSchema = Type.Object(
  { model: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })) },
  { additionalProperties: false },
);
/** The verbs of the audit log. */
const VERBS = { disabled: 'disable', draining: 'drain' };
const validateSwitch = validator(SwitchSchema);
const validateTest = validator(TestChannelSchema);

/**
 * Handles `GET /v1/operator/channels` and `/{id}`; `POST …/{id}/test`, `/enable`, `/disable`,
 * `/drain`. `/disable` and `/drain` set a switch that turns the channel off, and `/enable` removes
 * the switch. A switch applies to all replicas and survives a restart. Each replica observes the
 * health of a channel for itself, and a response shows the health that its replica observed.
 */
export class OperatorChannels {
  constructor(private readonly deps: OperatorDeps) {}

  readonly list: Handler = async (context) => {
    await this.deps.authentication.requireOperator(context);
    const { channels } = this.deps.operator();
    return json({ object: 'list', data: await this.views(channels.all) });
  };

  readonly get: Handler = async (context) => {
    const { account, parts } = await this.requireChannel(context);
    const { id } = account.config;
    const response = await this.channelResponse(account);
    const isRow = parts.installation.now.sources.get(id) === 'row';
    const row = isRow ? await findChannelRow(parts.sql, id) : undefined;
    return withEtag(response, channelTagOf({ row, switched: await findSwitch(parts.sql, id) }));
  };

  /** Turns a channel off: it gets no new calls. Calls in flight end normally. */
  readonly disable: Handler = (context) => this.switchOff(context, 'disabled');

  /** Works like `disable`, but the state is `draining` while tasks run on the channel. */
  readonly drain: Handler = (context) => this.switchOff(context, 'draining');

  /**
   * Lets a channel take calls again. Throws WeirError if `weir.yaml` disables the channel. Resets
   * the circuits of the channel as a successful probe does.
   */
  readonly enable: Handler = async (context) => {
    const { account, parts, operator } = await this.requireChannel(context);
    if (!account.config.enabled) {
      const isRow = parts.installation.now.sources.get(account.config.id) === 'row';
      const message = 'The configuration disables this channel with enabled: false.';
      throw new WeirError('invalid_request', message, {
        param: 'id',
        hint: isRow
          ? 'PATCH the channel with enabled: true; if api_key_readable is false, with a new api_key.'
          : 'Set enabled: true in weir.yaml; Weir reloads the file at once.',
      });
    }
    await this.switch(context, parts, account.config.id, null, operator);
    for (const actor of account.actors) actor.mend('operator');
    return this.channelResponse(account);
  };

  /**
   * Sends a probe to the channel. The probe uses the requested model, or the channel's first model.
   */
  readonly test: Handler = async (context) => {
    const { account, parts } = await this.requireChannel(context);
    const { model } = validateTest(await bodyOf(context));
    const actor = account.actors.find(
      (candidate) => model === undefined || candidate.model === model,
    );
    if (!actor) {
      throw new WeirError('invalid_request', 'The channel does not serve this model.', {
        param: 'model',
        hint: `Use one of ${account.actors.map((served) => served.model).join(', ')}.`,
      });
    }
    const result = await parts.prober.test(actor);
    return json({
      object: 'channel.test',
      channel: account.config.id,
      model: actor.model,
      ...result,
      ...(result.fault === undefined ? {} : { hint: FAULT_HINTS[result.fault] }),
      latency_ms: Math.round(result.latency_ms),
    });
  };

  private async switchOff(context: RequestContext, state: SwitchRow['state']): Promise<Response> {
    const { account, parts, operator } = await this.requireChannel(context);
    const { reason } = validateSwitch(await bodyOf(context));
    const to = { state, reason: reason ?? 'operator' };
    await this.switch(context, parts, account.config.id, to, operator);
    return this.channelResponse(account);
  }

  /** Writes a switch, notifies all replicas, and applies the switch on this replica. */
  private async switch(
    { request }: RequestContext,
    { sql, announceSwitch, applySwitches, installation }: OperatorParts,
    id: string,
    to: Switched | null,
    operator: Operator,
  ): Promise<void> {
    const isRow = installation.now.sources.get(id) === 'row';
    try {
      await sql.begin(async (tx) => {
        const { row, switched } = await lockChannel(tx, id);
        requireMatch(request, channelTagOf({ row: isRow ? row : undefined, switched }));
        await setSwitch(tx, id, to);
        const before = switched ? { ...stateOf(switched) } : null;
        const after = to ? stateOf(to) : null;
        const action = `channel.${to === null ? 'enable' : VERBS[to.state]}`;
        const change = { kind: 'channel_switch' as const, id, action, before, after };
        await recordChange(tx, operator, { ...change, shown: { before, after } });
      });
    } finally {
      announceSwitch(id);
    }
    await applySwitches();
  }

  private async requireChannel(context: RequestContext) {
    const operator = await this.deps.authentication.requireOperator(context);
    const parts = this.deps.operator();
    const account = parts.channels.account(context.params['id'] ?? '');
    if (account) return { account, parts, operator };
    throw channelNotFound();
  }

  private async channelResponse(account: ChannelAccount<ChannelActor>): Promise<Response> {
    const [view] = await this.views([account]);
    return json(view);
  }

  private async views(accounts: readonly ChannelAccount<ChannelActor>[]): Promise<object[]> {
    const { sql, replica_id, installation } = this.deps.operator();
    const [switches, running, rows] = await Promise.all([
      ...([readSwitches(sql), countRunningTasks(sql), readChannelRows(sql)] as const),
    ]);
    const switchesById = new Map(switches.map((row) => [row.channel_id, row]));
    const rowsById = new Map(rows.map((row) => [row.id, row]));
    return accounts.map((account) => {
      const { id } = account.config;
      const tasks = running.get(id) ?? 0;
      const source = installation.now.sources.get(id) ?? 'file';
      return {
        ...channelView(account, switchesById.get(id), tasks),
        ...{ source, replica: replica_id() },
        wins: { rule: WINS_RULE, over: source !== 'row' && rowsById.has(id) ? ['row'] : [] },
        ...(source === 'row' ? rowView(account, rowsById.get(id)) : {}),
      };
    });
  }
}

/** The error of a request for a channel that is not configured. */
export function channelNotFound(param = 'id'): WeirError {
  return new WeirError('not_found', 'There is no such channel.', {
    param,
    hint: 'Send GET /v1/operator/channels for the list of channels.',
  });
}

async function bodyOf({ request, bytes }: RequestContext): Promise<Record<string, unknown>> {
  if (request.body === null || request.headers.get('content-length') === '0') return {};
  return (await readJsonObject(request, bytes.of(OPERATORS), MAX_MANAGEMENT_BODY_BYTES)).value;
}

/** The channel record for operators. It never contains the channel's key. */
function channelView(
  account: ChannelAccount<ChannelActor>,
  switched: SwitchRow | undefined,
  running_tasks: number,
): object {
  const { id, protocol, base_url, priority, weight, max_concurrency, enabled } = account.config;
  const { timeout_ms, dialect = dialectOfAddress(base_url) } = account.config;
  const isDraining = switched?.state === 'draining' && running_tasks > 0;
  return {
    object: 'channel',
    ...{ id, protocol, base_url, priority, weight, max_concurrency, timeout_ms, enabled },
    dialect: protocol === 'openai' ? dialect : null,
    state: isDraining ? 'draining' : account.state,
    switch: switched
      ? {
          state: switched.state,
          reason: switched.reason,
          changed_at: switched.changed_at.toISOString(),
        }
      : null,
    in_flight: account.inFlight,
    running_tasks,
    models: account.actors.map((actor) => modelView(actor)),
  };
}

/** The members that only a channel that an operator made has. */
function rowView({ config }: ChannelAccount<ChannelActor>, row: ChannelRow | undefined): object {
  return {
    // If the key cannot be decrypted, the channel is off, whatever the operator chose.
    ...(row ? { enabled: row.enabled } : {}),
    api_key_readable: config.api_key !== '',
    api_key_changed_at: row?.api_key_changed_at.toISOString() ?? null,
    created_at: row?.created_at.toISOString() ?? null,
  };
}

function modelView(actor: ChannelActor): object {
  const { state, snapshot, latency, lastFailure, config, model } = actor;
  const { reason, open_until, recent_success, slots } = snapshot.context;
  const mayReopen = state === 'open' || (state === 'disabled' && snapshot.context.returns);
  return {
    id: model,
    upstream_model: config.models[model] ?? model,
    // What Weir no longer adds to requests, because the upstream refused it.
    refused_members: actor.refused.names,
    state,
    reason,
    tried_again_at: mayReopen ? new Date(open_until).toISOString() : null,
    recent_success,
    slow_start_slots: slots,
    latency_ms: latency.mean_ms === undefined ? null : Math.round(latency.mean_ms),
    latency_p95_ms: latency.p95_ms === undefined ? null : Math.round(latency.p95_ms),
    last_failure: lastFailure
      ? {
          class: lastFailure.failure,
          fault: lastFailure.fault ?? null,
          message: lastFailure.message,
          at: new Date(lastFailure.at_ms).toISOString(),
        }
      : null,
  };
}
