import type { Sql } from 'postgres';
import type { ShownBudget } from '../../db/budgets/rows.ts';
import type { ChannelActor } from '../actors/channels/channel.ts';
import type { Channels } from '../actors/channels/channels.ts';
import type { OwnKeys, OwnServing } from '../actors/channels/own-keys.ts';
import type { CatalogueFor, CatalogueModel, ChatModel } from '../catalogue/catalogue.ts';
import { WeirError } from '../errors/weir-error.ts';
import { unsentParameter } from '../upstreams/generation/sent-parameters.ts';
import type { InferenceCall } from './call.ts';
import { directChannels, mostOfDirect } from './direct/before-admission.ts';
import type { DirectCall } from './direct/direct.ts';
import type { InferencePort } from './inference.ts';
import { MoveDue } from './limits/move-due.ts';
import { chatBudget, pricedCall } from './priced-call.ts';
import { channelsFor, unableChannels } from './routing/able-channels.ts';
import { orderChannels } from './routing/order.ts';
import {
  MOST_PROBABLE,
  type PlannedOver,
  type PlanParts,
  plannedInTurn,
  planRoute,
  type RoutePlan,
} from './routing/plan.ts';
import { callOf, isAbleToServe } from './soft/able-chat.ts';
import { type MoveDeps, modelAfter, noteBudgets } from './soft/move.ts';
import { budgetsReachedBy } from './soft/planned-budgets.ts';
import { resolveContinuation } from './tasks/continuation.ts';
import type { TaskEffectDeps } from './tasks/deps.ts';
import { jobRoutes } from './tasks/job-routes.ts';
import { mostOfTask, refuseOtherAccount } from './tasks/own-tasks.ts';
import type { CreateTask, TaskPort } from './tasks/port.ts';
import { refuseUnsent } from './tasks/unsent.ts';

/** What a dry run reads. */
export interface DryRunDeps {
  readonly sql: Sql;
  readonly channels: Channels;
  /** The own keys of organizations. Without it, nobody has any. */
  readonly own?: Pick<OwnKeys, 'serving'> | undefined;
  readonly catalogue: CatalogueFor;
  readonly protocols: TaskEffectDeps['protocols'];
  /** The budgets of the organization of the key. */
  readonly budgets: readonly ShownBudget[];
  readonly now: () => number;
}

/** Thrown where a call would be admitted. It ends the route of the call, so that nothing is sent. */
export class Planned extends Error {
  override readonly name = 'Planned';

  constructor(readonly plan: RoutePlan) {
    super('the call is planned, and not sent');
  }
}

/**
 * Stands for `Inference` and the tasks in the routes of a dry run. Each call throws `Planned` where
 * `Inference` would admit it. The plan comes from the functions with which `Inference` chooses channels.
 */
export class DryRun {
  constructor(
    private readonly deps: DryRunDeps,
    private readonly real: InferencePort,
  ) {}

  /** What decides whether a call can move, because a soft budget is reached. */
  private readonly moves: MoveDeps = {
    catalogue: (organization_id) => this.deps.catalogue(organization_id),
    isCallable: (model, key) => this.real.isCallable(model, key),
  };

  /** The port of the chat and direct routes. */
  readonly inference: InferencePort = {
    run: async (call) => this.endChat(call),
    direct: async (call) => this.end(call, (each) => this.partsOfDirect(each)),
    speech: async (call) => this.end(call, (each) => this.partsOfDirect(each)),
    chargeDraft: async () => undefined,
    isCallable: (model, key) => this.real.isCallable(model, key),
    availability: (model) => this.real.availability(model),
    downSince: (id) => this.real.downSince(id),
    withAlternatives: (error) => error,
    moves: this.moves,
  };

  /** Returns the tasks of the generation routes. `tasks` finds what exists. */
  tasksOver(tasks: TaskPort): TaskPort {
    return {
      create: (request) => this.endTask(request),
      find: (id, organization_id) => tasks.find(id, organization_id),
      watch: (request) => tasks.watch(request),
      cancel: async () => undefined,
    };
  }

  /** Plans a chat call. If a soft budget moves it, plans it once more with the other model. */
  private endChat(call: InferenceCall): never {
    const partsOf = (each: InferenceCall) => this.partsOfChat(each);
    try {
      return this.end({ ...call, may_move: call.may_move !== false }, partsOf);
    } catch (error) {
      if (!(error instanceof MoveDue)) throw error;
      const isAble = (model: ChatModel) => isAbleToServe(this.serving, callOf(call, model));
      const model = modelAfter(this.moves, { ...call, isAble }, error);
      return this.end({ ...callOf(call, model), may_move: false }, partsOf);
    }
  }

  /** Where the channels of models are found. */
  private get serving() {
    const { channels, own } = this.deps;
    return own ? { channels, own } : { channels };
  }

  /**
   * Plans a call as `Inference` runs it: on own keys, on the platform's channels, or on both in turn. Throws
   * `MoveDue` if a soft budget moves the call.
   */
  private end<Call extends EndedCall>(call: Call, partsOf: (call: Call) => PlanParts): never {
    const plan = this.planOf(call, partsOf);
    this.noteBudgets(call, plan.most_nano_usd);
    throw new Planned(plan);
  }

  private planOf<Call extends EndedCall>(
    call: Call,
    partsOf: (call: Call) => PlanParts,
  ): RoutePlan {
    const { channels } = this.deps;
    const own = this.deps.own?.serving(call.key.organization_id, call.model.id);
    if (!own) return this.plan(channels, partsOf(call));
    const parts = partsOf({ ...call, own });
    if (own.mode === 'only') return this.plan(withOwn(channels, own), parts);
    const alone = { all: own.channels, serving: () => own.channels };
    return plannedInTurn(this.plan(alone, parts), this.plan(channels, partsOf(call)));
  }

  /** Notes the soft budgets that a call would exceed, or throws `MoveDue`. */
  private noteBudgets(
    { key, record, may_move = false }: Pick<InferenceCall, 'key' | 'record' | 'may_move'>,
    amount: number,
  ): void {
    const { id: key_id, organization_id } = key;
    const money = { key_id, organization_id, tags: record?.tags ?? null };
    const { budgets, now } = this.deps;
    noteBudgets(budgetsReachedBy(budgets, money, amount, now()), may_move, record);
  }

  private plan(channels: PlannedOver, parts: PlanParts): RoutePlan {
    return planRoute(channels, parts, this.deps.now());
  }

  private partsOfChat(given: InferenceCall): PlanParts {
    const call = pricedCall(given);
    const { model, own } = call;
    const serving = own?.channels ?? this.deps.channels.serving(model.id);
    const { able, refusal } = ableOrRefused(() => channelsFor(serving, call));
    return {
      ...{ model, use: 'call', pinned: null, own_only: own?.mode === 'only', refusal },
      most_nano_usd: chatBudget(call).amountToReserve(call.stream),
      ordered: orderChannels(able, MOST_PROBABLE, model.declaration.routing?.policy),
      unable: unableChannels(serving, call),
    };
  }

  private partsOfDirect(
    call: Pick<DirectCall<unknown, never>, 'model' | 'max_units' | 'protocols' | 'key' | 'own'>,
  ): PlanParts {
    const { model, protocols, own } = call;
    const serving = own?.channels ?? this.deps.channels.serving(model.id);
    const able = directChannels(serving, protocols);
    return {
      ...{ model, use: 'call', pinned: null, own_only: own?.mode === 'only', refusal: undefined },
      most_nano_usd: mostOfDirect(call),
      ordered: orderChannels(able, MOST_PROBABLE, model.declaration.routing?.policy),
      unable: new Map(serving.filter((each) => !able.includes(each)).map((each) => [each, null])),
    };
  }

  /** Plans a task. Own keys of its organization come before the platform's channels. */
  private async endTask(task: CreateTask): Promise<never> {
    const { model, key, input: given } = task;
    const { organization_id } = key;
    const { input, channel_id: pinned } = await resolveContinuation(
      ...([this.deps.sql, given, organization_id] as const),
    );
    const own = this.deps.own?.serving(organization_id, model.id);
    const own_only = own?.mode === 'only';
    refuseOtherAccount(pinned, own_only);
    const channels = own ? withOwn(this.deps.channels, own) : this.deps.channels;
    const serving = own_only ? own.channels : channels.serving(model.id);
    const { refusal } = ableOrRefused(() => {
      refuseUnsent(serving, model.id, input);
      return serving;
    });
    const routes = jobRoutes(
      { ...this.deps, random: MOST_PROBABLE },
      { organization_id, model: model.id, input, own_only },
      [],
      pinned,
    );
    const unable = new Map<ChannelActor, WeirError | null>();
    for (const channel of serving) {
      const { protocol, models } = channel.config;
      const param = unsentParameter(protocol, models[model.id] ?? '', input);
      if (param !== undefined) unable.set(channel, cannotSend(param));
      else if (!this.deps.protocols[protocol]) unable.set(channel, null);
    }
    const parts: PlanParts = {
      ...{ model, use: 'job', pinned, own_only, refusal, unable },
      most_nano_usd: mostOfTask({ model, input, key }, own_only ? own : undefined),
      ordered: routes.map(({ channel }) => channel),
    };
    const plan = this.plan(channels, parts);
    this.noteBudgets(task, plan.most_nano_usd);
    throw new Planned(plan);
  }
}

/** A call that is planned. */
interface EndedCall extends Pick<InferenceCall, 'key' | 'record' | 'may_move' | 'own'> {
  readonly model: CatalogueModel;
}

/** Returns the own keys that serve a model, and the platform's channels behind them. */
function withOwn(channels: PlannedOver, own: OwnServing): PlannedOver {
  return {
    all: [...own.channels, ...channels.all],
    serving: (model) => [...own.channels, ...channels.serving(model)],
  };
}

/** Returns the channels that `find` returns, or the refusal that it throws. */
function ableOrRefused(find: () => readonly ChannelActor[]): {
  readonly able: readonly ChannelActor[];
  readonly refusal: WeirError | undefined;
} {
  try {
    return { able: find(), refusal: undefined };
  } catch (error) {
    if (error instanceof WeirError) return { able: [], refusal: error };
    throw error;
  }
}

function cannotSend(param: string): WeirError {
  return new WeirError('invalid_request', `The channel cannot send ${param}.`, { param });
}
