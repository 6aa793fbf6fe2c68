import { Type } from '@sinclair/typebox';
import type { Sql } from 'postgres';
import type { Actor } from '../../../db/audit/entry.ts';
import { type ChannelRow, findChannelRow, readChannelRows } from '../../../db/channels/rows.ts';
import {
  countRunningTasks,
  readSwitches,
  type SwitchRow,
  writeSwitch,
} from '../../../db/channels/switches.ts';
import type { Operator } from '../../access/manager.ts';
import type { ChannelAccount } from '../../actors/channels/account.ts';
import type { ChannelActor } from '../../actors/channels/channel.ts';
import type { Channels } from '../../actors/channels/channels.ts';
import type { Audit } from '../../actors/money/audit.ts';
import type { CurrentInstallation } from '../../config/current-installation.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { ProbeResult } from '../../inference/probing/probe.ts';
import { dialectOfAddress } from '../../protocols/dialects.ts';
import type { Authentication } from '../auth/authentication.ts';
import { MAX_MANAGEMENT_BODY_BYTES, readJsonObject } from '../body.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { withEtag } from '../etag.ts';
import { OPERATORS } from '../operators.ts';
import { channelSettingsOf } from './channel-settings.ts';
import { FAULT_HINTS } from './fault-hints.ts';

/** The parts of this process that the operator routes use. */
export interface OperatorParts {
  readonly sql: Sql;
  /** Checks the books. */
  readonly audit: Pick<Audit, 'runWithin'>;
  readonly channels: Channels;
  readonly prober: { test(channel: ChannelActor): Promise<ProbeResult> };
  readonly replica_id: () => string;
  /**
   * Notifies all replicas that an operator enabled or disabled a channel. Called after the commit,
   * and also if Weir does not know whether the change was committed. Must not throw.
   */
  readonly announceSwitch: (channel_id: string) => void;
  /** Resolves when this replica has applied all switches that were committed before the call. */
  readonly applySwitches: () => Promise<void>;
  /** The channels of `weir.yaml` and of operators. */
  readonly installation: Pick<CurrentInstallation, 'now'>;
  /** Encrypts the keys of channels that operators make; 32 bytes. */
  readonly channel_keys: Uint8Array;
  /** Notifies all replicas that an operator made, changed or removed a channel. Must not throw. */
  readonly announceChannels: () => void;
  /** Resolves when this replica has applied all such changes that were committed before the call. */
  readonly applyChannels: () => Promise<void>;
}

/** Dependencies of the operator routes. */
export interface OperatorDeps {
  readonly authentication: Authentication;
  readonly operator: () => OperatorParts;
}

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
    const { parts } = await this.admit(context);
    const { channels } = parts;
    return json({ object: 'list', data: await this.views(channels.all) });
  };

  readonly get: Handler = async (context) => {
    const { account, parts } = await this.requireChannel(context);
    const response = await this.channelResponse(account);
    const row = await findChannelRow(parts.sql, account.config.id);
    const isRow = parts.installation.now.sources.get(account.config.id) === 'row';
    return row && isRow ? withEtag(response, channelSettingsOf(row)) : response;
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
    const { account, parts, actor } = await this.requireChannel(context);
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
    await this.switch(parts, account.config.id, null, actor);
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
    const { account, parts, actor } = await this.requireChannel(context);
    const { reason } = validateSwitch(await bodyOf(context));
    const to = { state, reason: reason ?? 'operator' };
    await this.switch(parts, account.config.id, to, actor);
    return this.channelResponse(account);
  }

  /** Writes a switch, notifies all replicas, and applies the switch on this replica. */
  private async switch(
    { sql, announceSwitch, applySwitches }: OperatorParts,
    channel_id: string,
    to: Parameters<typeof writeSwitch>[2],
    actor: Actor,
  ): Promise<void> {
    try {
      await writeSwitch(sql, channel_id, to, actor);
    } finally {
      announceSwitch(channel_id);
    }
    await applySwitches();
  }

  private async admit(context: RequestContext): Promise<Operator & { parts: OperatorParts }> {
    const { actor } = await this.deps.authentication.requireOperator(context);
    return { actor, parts: this.deps.operator() };
  }

  private async requireChannel(context: RequestContext) {
    const { parts, actor } = await this.admit(context);
    const account = parts.channels.account(context.params['id'] ?? '');
    if (account) return { account, parts, actor };
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
