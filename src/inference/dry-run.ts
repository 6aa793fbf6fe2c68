import type { Sql } from 'postgres';
import type { ChannelActor } from '../actors/channels/channel.ts';
import type { Channels } from '../actors/channels/channels.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { estimateGeneration } from '../catalogue/generation-price.ts';
import { WeirError } from '../errors/weir-error.ts';
import { unsentParameter } from '../upstreams/generation/sent-parameters.ts';
import { Budget } from './budget/budget.ts';
import type { InferenceCall } from './call.ts';
import { type DirectCall, directChannels, mostOfDirect } from './direct/direct.ts';
import { type InferencePort, pricedCall } from './inference.ts';
import { channelsFor, unableChannels } from './routing/able-channels.ts';
import { orderChannels } from './routing/order.ts';
import { MOST_PROBABLE, type PlanParts, planRoute, type RoutePlan } from './routing/plan.ts';
import { resolveContinuation } from './tasks/continuation.ts';
import type { TaskEffectDeps } from './tasks/deps.ts';
import { jobRoutes } from './tasks/job-routes.ts';
import type { CreateTask, TaskPort } from './tasks/port.ts';
import { refuseUnsent } from './tasks/unsent.ts';

/** What a dry run reads. */
export interface DryRunDeps {
  readonly sql: Sql;
  readonly channels: Channels;
  readonly catalogue: () => Catalogue;
  readonly protocols: TaskEffectDeps['protocols'];
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

  /** The port of the chat and direct routes. */
  readonly inference: InferencePort = {
    run: async (call) => this.end(this.partsOfChat(call)),
    direct: async (call) => this.end(this.partsOfDirect(call)),
    speech: async (call) => this.end(this.partsOfDirect(call)),
    chargeDraft: async () => undefined,
    isCallable: (model, key) => this.real.isCallable(model, key),
    availability: (model) => this.real.availability(model),
    downSince: (id) => this.real.downSince(id),
    withAlternatives: (error) => error,
  };

  /** Returns the tasks of the generation routes. `tasks` finds what exists. */
  tasksOver(tasks: TaskPort): TaskPort {
    return {
      create: async (request) => this.end(await this.partsOfTask(request)),
      find: (id, organization_id) => tasks.find(id, organization_id),
      watch: (request) => tasks.watch(request),
      cancel: async () => undefined,
    };
  }

  private end(parts: PlanParts): never {
    throw new Planned(planRoute(this.deps.channels, parts, this.deps.now()));
  }

  private partsOfChat(given: InferenceCall): PlanParts {
    const call = pricedCall(given);
    const { model } = call;
    const serving = this.deps.channels.serving(model.id);
    const { able, refusal } = ableOrRefused(() => channelsFor(serving, call));
    return {
      ...{ model, use: 'call', pinned: null, refusal },
      most_nano_usd: new Budget(call).amountToReserve(call.stream),
      ordered: orderChannels(able, MOST_PROBABLE, model.declaration.routing?.policy),
      unable: unableChannels(serving, call),
    };
  }

  private partsOfDirect(
    call: Pick<DirectCall<unknown, never>, 'model' | 'max_units' | 'protocols'>,
  ): PlanParts {
    const { model, protocols } = call;
    const serving = this.deps.channels.serving(model.id);
    const able = directChannels(serving, protocols);
    return {
      ...{ model, use: 'call', pinned: null, refusal: undefined },
      most_nano_usd: mostOfDirect(call),
      ordered: orderChannels(able, MOST_PROBABLE, model.declaration.routing?.policy),
      unable: new Map(serving.filter((each) => !able.includes(each)).map((each) => [each, null])),
    };
  }

  private async partsOfTask({ model, key, input: given }: CreateTask): Promise<PlanParts> {
    const { channels } = this.deps;
    const { input, channel_id: pinned } = await resolveContinuation(
      ...([this.deps.sql, given, key.organization_id] as const),
    );
    const serving = channels.serving(model.id);
    const { refusal } = ableOrRefused(() => {
      refuseUnsent(serving, model.id, input);
      return serving;
    });
    const routes = jobRoutes(
      { ...this.deps, random: MOST_PROBABLE },
      { model: model.id, input },
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
    return {
      ...{ model, use: 'job', pinned, refusal, unable },
      most_nano_usd: estimateGeneration(model, input),
      ordered: routes.map(({ channel }) => channel),
    };
  }
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
