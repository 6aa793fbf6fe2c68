import type { ChannelActor, ChannelPermit } from '../actors/channels/channel.ts';
import type { Channels } from '../actors/channels/channels.ts';
import type { Quotas } from '../actors/money/quotas.ts';
import type { Reservation } from '../actors/money/reservation.ts';
import { type Catalogue, type CatalogueModel, isAllowed } from '../catalogue/catalogue.ts';
import { WeirError } from '../errors/weir-error.ts';
import { isChatProtocol } from '../protocols/names.ts';
import { protocolFor, requestFormOf } from '../upstreams/chat/protocols.ts';
import type { UpstreamAnswer, UpstreamProtocol } from '../upstreams/contract.ts';
import { readRequest, untranslatableError } from '../upstreams/translation/translate.ts';
import { Budget, charge } from './budget/budget.ts';
import { type Caller, type Draft, type InferenceCall, settleCall, upstreamCall } from './call.ts';
import { type DirectAnswer, type DirectCall, runDirect } from './direct/direct.ts';
import { runSpeech, type SpeechCall } from './direct/speech.ts';
import { withHedge } from './routing/hedge.ts';
import { type Attempt, type Served, withFailover } from './routing/route.ts';
import { openStream } from './streaming/open-stream.ts';
import { StopSignal } from './streaming/stop-signal.ts';
import { type OpenStream, StreamRun } from './streaming/stream.ts';

const MAX_ALTERNATIVES = 3;
/** Made once: each answer gets a copy of them. */
const WHOLE = { headers: new Headers({ 'content-type': 'application/json' }) };
const STREAMED = {
  headers: new Headers({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  }),
};

export interface InferenceDeps {
  quotas: Quotas;
  channels: Channels;
  catalogue: () => Catalogue;
  now: () => number;
  random: () => number;
  /** A model's place in the ranking of its scene; where there is none, the catalogue's order counts. */
  rankOf?: (model: CatalogueModel) => number;
  /** Told of what the client cannot be told; must not throw. */
  onError: (error: unknown, request_id: string) => void;
}

/** The life of one call: reserve → route → call → answer → settle (design 5). */
export class Inference {
  constructor(private readonly deps: InferenceDeps) {}

  /**
   * Serves a call. Throws WeirError; the signal's reason when the client left. The answer of a
   * stream is given back as soon as the upstream's first event is there.
   */
  async run(call: InferenceCall): Promise<Response> {
    const budget = new Budget(call.model, call.body, call.body_text);
    const amount = budget.chargeFor(call.stream);
    const quota = this.deps.quotas.getOrCreate(call.key);
    const reservation =
      quota.tryReserve(amount) ??
      (await quota.reserve(budget.admissionRequest(amount, call.signal)));
    const clamp = budget.clampFor(reservation.amount, amount);
    try {
      if (call.stream) {
        const { result } = await this.open(call, clamp);
        return this.carry(call, budget, reservation, result);
      }
      const { result: answer, permit } = await this.ask(call, clamp);
      permit.succeeded();
      const draft = draftOf(answer, permit, budget);
      if (call.storeDraft) await call.storeDraft(answer.body_text, draft);
      await settleCall(call, reservation, draft, 'completed');
      if (call.storeAnswer) await call.storeAnswer(JSON.parse(answer.body_text));
      return new Response(answer.body_text, WHOLE);
    } catch (error) {
      // Nothing was delivered, so nothing is charged; after a charge this changes nothing.
      reservation.release();
      throw this.withAlternatives(error, call);
    }
  }

  /**
   * Charges an answer of before whose charge may not have been committed; repeating it charges
   * nothing (P3). Throws WeirError where the money is gone.
   */
  async chargeDraft(call: InferenceCall, draft: Draft): Promise<void> {
    const amount = charge(call.model, draft.usage);
    const quota = this.deps.quotas.getOrCreate(call.key);
    const ask = { amount, minimum: () => amount, signal: call.signal };
    const reservation = quota.tryReserve(amount) ?? (await quota.reserve(ask));
    await settleCall(call, reservation, draft, 'completed');
  }

  /** Serves a call that is one question and one whole answer. Throws like `run`. */
  async direct<Protocol, Answer>(
    call: DirectCall<Protocol, DirectAnswer<Answer>>,
  ): Promise<Answer> {
    try {
      return await runDirect(this.deps, call);
    } catch (error) {
      throw this.withAlternatives(error, call);
    }
  }

  /** Serves text as sound, given back with its first bytes. Throws like `run`. */
  async speech(call: Omit<SpeechCall, 'onError'>): Promise<ReadableStream<Uint8Array>> {
    const onError = (error: unknown) => this.deps.onError(error, call.request_id);
    try {
      return await runSpeech(this.deps, { ...call, onError });
    } catch (error) {
      throw this.withAlternatives(error, call);
    }
  }

  /** True if a key may call a model and a channel would take the call now (P13). */
  isCallable(model: CatalogueModel, key: Caller): boolean {
    return isAllowed(key.models, model) && this.deps.channels.canServe(model.id);
  }

  /** A whole answer of some channel. */
  private ask(call: InferenceCall, clamp: number | undefined): Promise<Served<UpstreamAnswer>> {
    return this.onSomeChannel(
      call,
      (permit, protocol, lane) => {
        const signal = lane ? new StopSignal(call.signal, lane) : call.signal;
        return protocol.complete(upstreamCall(call, permit.channel, signal, clamp));
      },
      (loser) => loser.permit.succeeded(),
    );
  }

  /** A stream of some channel, up to its first words. */
  private open(call: InferenceCall, clamp: number | undefined): Promise<Served<OpenStream>> {
    return this.onSomeChannel(
      call,
      (permit, protocol, lane) => openStream(call, permit, protocol, clamp, lane),
      (loser) => {
        loser.result.stop.abort();
        loser.permit.succeeded();
      },
    );
  }

  /** The answer that carries a stream to its client. */
  private carry(
    call: InferenceCall,
    budget: Budget,
    reservation: Reservation,
    open: OpenStream,
  ): Response {
    const onError = (error: unknown) => this.deps.onError(error, call.request_id);
    const run = new StreamRun({ call, open, reservation, budget, onError });
    return new Response(run.body(), STREAMED);
  }

  /** `discard` gets what a second channel answered that was asked as well, and was slower. */
  private onSomeChannel<Result>(
    call: InferenceCall,
    attempt: (
      permit: ChannelPermit,
      protocol: UpstreamProtocol,
      lane?: AbortSignal,
    ) => Promise<Result>,
    discard: (served: Served<Result>) => void,
  ): Promise<Served<Result>> {
    const { policy, hedge } = call.model.declaration.routing ?? {};
    const surroundings = policy ? { ...this.deps, policy } : this.deps;
    const onChannel: Attempt<Result> = (permit, _, lane) => {
      const { protocol: spoken } = permit.channel.config;
      if (!isChatProtocol(spoken)) throw new Error(`${spoken} serves no chat`);
      return attempt(permit, protocolFor(call.protocol, spoken), lane);
    };
    const channels = this.channelsFor(call);
    if (hedge) return withHedge(channels, surroundings, onChannel, discard);
    return withFailover(channels, surroundings, onChannel);
  }

  /**
   * The channels that can say all of a call. Throws WeirError (400) naming the parameter if none of
   * the model's channels can.
   */
  private channelsFor(call: InferenceCall): readonly ChannelActor[] {
    const serving = this.deps.channels.serving(call.model.id);
    for (const channel of serving) if (!isNative(channel, call)) return ableOf(serving, call);
    return serving;
  }

  private rank(model: CatalogueModel): number {
    return this.deps.rankOf?.(model) ?? 0;
  }

  /** A refusal for want of channels names models of the same scene that would work (spec: Errors). */
  private withAlternatives(
    error: unknown,
    call: Pick<InferenceCall, 'key'> & { model: CatalogueModel },
  ): unknown {
    if (!(error instanceof WeirError) || error.id !== 'all_channels_failed') return error;
    const alternatives = this.deps
      .catalogue()
      .all()
      .filter(
        (model) =>
          model.kind === call.model.kind &&
          model.id !== call.model.id &&
          model.category === call.model.category &&
          this.isCallable(model, call.key),
      )
      .sort((a, b) => this.rank(a) - this.rank(b))
      .slice(0, MAX_ALTERNATIVES)
      .map(({ id, category, owned_by }) => ({
        id,
        status: 'available',
        tags: [category, owned_by],
      }));
    return new WeirError(error.id, error.message, { ...error.details, alternatives }, error.cause);
  }
}

/** True for a channel that understands the call as it came. */
function isNative({ config }: ChannelActor, call: InferenceCall): boolean {
  return isChatProtocol(config.protocol) && requestFormOf(config.protocol) === call.protocol;
}

/** Those of the channels that can say all of a call in their own words. Throws where none can. */
function ableOf(serving: readonly ChannelActor[], call: InferenceCall): readonly ChannelActor[] {
  const { uses } = readRequest(call.protocol, call.body);
  let refusal: WeirError | undefined;
  const able = serving.filter((channel) => {
    const { protocol } = channel.config;
    if (!isChatProtocol(protocol)) return false;
    const cannot = isNative(channel, call)
      ? undefined
      : untranslatableError(uses, requestFormOf(protocol));
    refusal ??= cannot;
    return !cannot;
  });
  if (able.length === 0 && refusal) throw refusal;
  return able;
}

function draftOf(answer: UpstreamAnswer, permit: ChannelPermit, budget: Budget): Draft {
  return {
    usage: answer.usage ?? budget.estimate(answer.produced()),
    channel_id: permit.channel.config.id,
    estimated: answer.usage === null,
  };
}

/** What the routes need of the inference floor. */
export type InferencePort = Pick<
  Inference,
  'run' | 'direct' | 'speech' | 'chargeDraft' | 'isCallable'
>;
