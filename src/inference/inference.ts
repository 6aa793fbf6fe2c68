import type { Availability } from '../actors/channels/availability.ts';
import type { ChannelActor, ChannelPermit } from '../actors/channels/channel.ts';
import type { Channels } from '../actors/channels/channels.ts';
import type { OwnKeys } from '../actors/channels/own-keys.ts';
import type { Quotas } from '../actors/money/quotas.ts';
import type { Reservation } from '../actors/money/reservation.ts';
import {
  type CatalogueFor,
  type CatalogueModel,
  type ChatModel,
  isAllowed,
} from '../catalogue/catalogue.ts';
import { isChatProtocol } from '../protocols/names.ts';
import { protocolFor } from '../upstreams/chat/protocols.ts';
import type { CallSignal, UpstreamAnswer, UpstreamProtocol } from '../upstreams/contract.ts';
import { takesBody, withAlternatives } from './alternatives.ts';
import type { Budget } from './budget/budget.ts';
import type { AnswerCache, Lookup } from './cache/answer-cache.ts';
import { answerHeaders } from './cache/cache-headers.ts';
import type { DirectFollower } from './cache/cached-direct.ts';
import type { ChatFlight, ChatFollower } from './cache/chat-flight.ts';
import { findAnswer, findShared, serveFree, serveHit } from './cache/chat-hit.ts';
import { failureOf } from './cache/flight.ts';
import { Flights } from './cache/flights.ts';
import { followFlight } from './cache/follow.ts';
import { joinFlights } from './cache/join-flights.ts';
import { ledAnswer } from './cache/led-answer.ts';
import {
  type Caller,
  type Draft,
  draftCharge,
  type InferenceCall,
  settleCall,
  upstreamCall,
} from './call.ts';
import { type DirectAnswer, type DirectCall, runDirect } from './direct/direct.ts';
import { runSpeech, type SpeechCall, type StreamedSpeech } from './direct/speech.ts';
import { noteImpossibleUsage } from './impossible-usage.ts';
import type { CallLimits } from './limits/call-limits.ts';
import { reserveLimited } from './limits/limited-reservation.ts';
import { MoveDue } from './limits/move-due.ts';
import { chatBudget, pricedCall } from './priced-call.ts';
import { channelsFor } from './routing/able-channels.ts';
import { withHedge } from './routing/hedge.ts';
import { onOwnKeys, unableError } from './routing/own-first.ts';
import { type Attempt, type Served, withFailover } from './routing/route.ts';
import { callOf, isAbleToServe, servingOf } from './soft/able-chat.ts';
import { type MoveDeps, modelAfter, noteBudgets, noteReserved } from './soft/move.ts';
import { openStream } from './streaming/open-stream.ts';
import { StopSignal } from './streaming/stop-signal.ts';
import { StreamRun } from './streaming/stream.ts';
import type { OpenStream } from './streaming/stream-parts.ts';
import { draftOf, textOf, unpaidOf } from './whole-answer.ts';

/** Dependencies of `Inference`. */
export interface InferenceDeps {
  quotas: Quotas;
  channels: Channels;
  /** The own keys of organizations. Without it, nobody has any. */
  own?: Pick<OwnKeys, 'serving' | 'canServe' | 'modeOf'>;
  catalogue: CatalogueFor;
  now: () => number;
  random: () => number;
  /**
   * Returns the place of a model in the ranking of its scene. Without it, the order of the
   * catalogue is used.
   */
  rankOf?: (model: CatalogueModel) => number;
  /** The answers that may be sent again. Without it, every call reaches an upstream. */
  cache?: AnswerCache;
  /** The limits of keys. Without it, no key has any. */
  limits?: CallLimits;
  /** Receives errors that cannot reach the client any more. Must not throw. */
  onError: (error: unknown, request_id: string) => void;
}

/** Runs calls: reserve → route → call → answer → settle. */
export class Inference {
  private readonly flights = new Flights<ChatFollower>();
  private readonly direct_flights = new Flights<DirectFollower>();

  constructor(private readonly deps: InferenceDeps) {}

  /**
   * Serves a chat call. For a stream, the response is returned when the upstream's first tokens
   * have arrived. Throws WeirError, or the signal's reason if the signal is aborted.
   */
  run(given: InferenceCall): Promise<Response> {
    const own = this.deps.own?.serving(given.key.organization_id, given.model.id);
    if (!own) return this.runOn(given);
    return onOwnKeys(own, given, (call) => this.runOn(call)).catch((error) =>
      this.runMoved(given, error),
    );
  }

  /** Serves a call on the model to which a soft limit moves it. Throws every other error. */
  private runMoved(given: InferenceCall, error: unknown): Promise<Response> {
    const isAble = (model: ChatModel) => isAbleToServe(this.deps, callOf(given, model));
    const model = modelAfter(this.moves, { ...given, isAble }, error);
    return this.run({ ...callOf(given, model), may_move: false });
  }

  /** What decides whether a call can move to another model. A port without it moves none. */
  readonly moves: MoveDeps = {
    catalogue: (organization_id) => this.deps.catalogue(organization_id),
    isCallable: (model, key) => this.isCallable(model, key),
  };

  /** Serves a call on its own keys, or on the platform's channels. */
  private async runOn(given: InferenceCall): Promise<Response> {
    const call = pricedCall(given);
    call.record?.resolve(call.model, call.model.category, call.stream);
    const quota = this.deps.quotas.getOrCreate(call.key, call.record?.tags);
    const lookup = call.storeDraft ? undefined : this.lookUp(call);
    const found = lookup && findAnswer(call, lookup);
    const free = found && serveFree(call, quota, found);
    if (free) return free;
    const budget = chatBudget(call);
    const amount = budget.amountToReserve(call.stream);
    const may_move = call.may_move !== false;
    let reservation: Reservation;
    try {
      if (may_move) noteBudgets(quota.spentBudgets, may_move, undefined);
      const taking = this.deps.limits?.take({
        ...{ key: call.key, model_id: call.model.id, call_id: call.request_id, may_move },
        ...{ is_concurrent: true, tokens: () => budget.max_tokens },
      });
      const tryReserve = () => quota.tryReserve(amount, call.request_id);
      const reserve = () =>
        quota.reserve(budget.admissionRequest(amount, call.signal, call.request_id));
      const limited = taking && reserveLimited(taking, call.record, { tryReserve, reserve });
      if (limited) reservation = limited instanceof Promise ? await limited : limited;
      else reservation = tryReserve() ?? (await reserve());
      noteReserved(reservation, may_move, call.record);
    } catch (error) {
      // A call on own keys moves where these are left.
      if (call.own || !(error instanceof MoveDue)) throw error;
      return this.runMoved(given, error);
    }
    const max_output_tokens = budget.outputLimitFor(reservation.amount, amount);
    call.record?.reserve(reservation.amount);
    if (lookup && call.record) call.record.looked_up = true;
    let flight: ChatFlight | undefined;
    let isAnswered = false;
    try {
      if (lookup) {
        // While this call waited for money, an answer may have been stored or removed.
        let hit = findAnswer(call, lookup);
        // Identical calls that run here are faster than a search elsewhere.
        if (!hit && lookup.mayLoad && !this.flights.find(lookup)) {
          hit = await findShared(call, lookup);
        }
        if (hit) {
          const answer = serveHit(call, reservation, hit);
          return answer instanceof Promise ? await answer : answer;
        }
        // An answer that little money may cut short is for this call alone.
        const leader = max_output_tokens === undefined && lookup.mayBeShared ? call : undefined;
        if (this.flights.find(lookup)) {
          const follower = { call, reservation, budget };
          const joined = await joinFlights(this.flights, lookup, leader, (running) =>
            followFlight(running, follower, lookup),
          );
          if (joined.answer) return joined.answer;
          flight = joined.flight;
        } else if (leader) flight = this.flights.lead(lookup, leader);
      }
      // The upstream call goes on while one of the calls that follow needs its answer.
      const signal = flight ?? call.signal;
      if (call.stream) {
        const { result } = await this.startStream(call, signal, max_output_tokens);
        isAnswered = true;
        call.record?.answer();
        const run = this.streamRun(call, budget, reservation, result, { lookup, flight });
        if (flight?.isAbandoned) {
          flight.goesOn = true;
          run.runForFollowers();
          throw call.signal.reason;
        }
        return new Response(run.body(), answerHeaders(lookup, true));
      }
      const unpaid = (served: Served<UpstreamAnswer>) => unpaidOf(served, budget);
      const completed = this.complete(call, signal, max_output_tokens);
      const served = await (flight ? ledAnswer(completed, flight, unpaid) : completed);
      isAnswered = true;
      const { result: answer, permit } = served;
      permit.succeeded();
      if (answer.has_impossible_usage) noteImpossibleUsage(permit, this.deps, call.request_id);
      const draft = draftOf(answer, permit, budget);
      const body_text = textOf(answer, draft);
      if (call.storeDraft) await call.storeDraft(body_text, { ...draft, model: call.model.id });
      const { charged, overrun } = await settleCall(call, reservation, draft, 'completed');
      if (call.record) call.record.isCharged = true;
      if (call.storeAnswer) await call.storeAnswer(JSON.parse(body_text));
      if (lookup) {
        const cost_nano_usd = charged + overrun;
        const kept = { text: body_text, is_stream: false, usage: draft.usage, cost_nano_usd };
        if (answer.is_fit) lookup.keep(kept);
        flight?.finish({ state: 'answered', kept, rest: '' });
      }
      return new Response(body_text, answerHeaders(lookup, false));
    } catch (error) {
      // If nothing was delivered, nothing is charged. After a charge, `release` has no effect.
      reservation.release();
      if (flight && !flight.goesOn) flight.finish(failureOf(call, isAnswered, error));
      throw this.withAlternatives(error, call);
    }
  }

  /**
   * Charges the answer that an earlier attempt stored. That attempt may already have charged the
   * answer; a repeated charge has no effect (P3). Throws WeirError if the money does not cover the
   * answer.
   */
  async chargeDraft(call: InferenceCall, draft: Draft): Promise<void> {
    const amount = Math.max(1, draftCharge(call, draft).counted);
    call.record?.resolve(call.model, call.model.category);
    const quota = this.deps.quotas.getOrCreate(call.key, call.record?.tags);
    const { request_id: call_id, signal } = call;
    const request = { amount, minimum: () => amount, signal, call_id };
    const reservation = quota.tryReserve(amount, call_id) ?? (await quota.reserve(request));
    noteBudgets(reservation.reached, false, call.record);
    await settleCall(call, reservation, draft, 'completed');
    if (call.record) call.record.isCharged = true;
  }

  /** Serves a direct call that is not streamed. Throws like `run`. */
  async direct<Protocol, Answer>(
    call: DirectCall<Protocol, DirectAnswer<Answer>>,
  ): Promise<Answer> {
    try {
      return await this.onChannels(call, (each) => runDirect(this.deps, each, this.direct_flights));
    } catch (error) {
      throw this.withAlternatives(error, call, (model) => takesBody(model, call.body));
    }
  }

  /**
   * Serves a direct call for speech. The stream is returned when the first audio has arrived.
   * Throws like `run`.
   */
  async speech(call: Omit<SpeechCall, 'onError'>): Promise<StreamedSpeech> {
    const onError = (error: unknown) => this.deps.onError(error, call.request_id);
    try {
      return await this.onChannels({ ...call, onError }, (each) => runSpeech(this.deps, each));
    } catch (error) {
      throw this.withAlternatives(error, call, (model) => takesBody(model, call.body));
    }
  }

  /** Runs a direct call on own keys of its organization, or on the platform's channels. */
  private onChannels<
    Call extends Pick<DirectCall<never, unknown>, 'key' | 'model' | 'own'>,
    Result,
  >(call: Call, run: (call: Call) => Promise<Result>): Promise<Result> {
    const own = this.deps.own?.serving(call.key.organization_id, call.model.id);
    return own ? onOwnKeys(own, call, run) : run(call);
  }

  /** True if the key may call the model, and a channel would take the call now (P13). */
  isCallable(model: CatalogueModel, key: Caller): boolean {
    if (!isAllowed(key.models, model)) return false;
    const { own, channels } = this.deps;
    const isOwn = own?.canServe(key.organization_id, model.id);
    if (isOwn === undefined) return channels.canServe(model.id);
    if (isOwn || own?.modeOf(key.organization_id) === 'only') return isOwn;
    return channels.canServe(model.id);
  }

  /** True if a channel, or an own key of the organization, serves the model. Its health does not count. */
  isServed(model: CatalogueModel, organization_id: string): boolean {
    return servingOf(this.deps, model, organization_id).length > 0;
  }

  /** Since when no channel of a model is healthy, ms since the epoch; undefined if one is. */
  downSince(model_id: string): number | undefined {
    return this.deps.channels.downSince(model_id);
  }

  /** What a caller may expect of a model now. */
  availability(model: CatalogueModel): Availability {
    return this.deps.channels.availability(model.id);
  }

  /** Gets a whole answer from the first channel that serves the call. */
  private complete(
    call: InferenceCall,
    call_signal: CallSignal,
    max_output_tokens: number | undefined,
  ): Promise<Served<UpstreamAnswer>> {
    return this.callChannels(
      call,
      call_signal,
      (permit, protocol, hedge_signal) => {
        const signal = hedge_signal ? new StopSignal(call_signal, hedge_signal) : call_signal;
        return protocol.complete(upstreamCall(call, permit.channel, signal, max_output_tokens));
      },
      (loser) => loser.permit.succeeded(),
    );
  }

  /** Opens a stream on the first channel that serves the call, up to its first tokens. */
  private startStream(
    call: InferenceCall,
    signal: CallSignal,
    max_output_tokens: number | undefined,
  ): Promise<Served<OpenStream>> {
    return this.callChannels(
      call,
      signal,
      (permit, protocol, hedge_signal) =>
        openStream(call, permit, protocol, max_output_tokens, signal, hedge_signal),
      (loser) => {
        loser.result.stop.abort();
        loser.permit.succeeded();
      },
    );
  }

  /** Returns what sends the stream to its client. */
  private streamRun(
    call: InferenceCall,
    budget: Budget,
    reservation: Reservation,
    open: OpenStream,
    { lookup, flight }: { lookup: Lookup | undefined; flight: ChatFlight | undefined },
  ): StreamRun {
    const onError = (error: unknown) => this.deps.onError(error, call.request_id);
    return new StreamRun({ call, open, reservation, budget, lookup, flight, onError });
  }

  /** Returns the place of a call in the cache; undefined if the call bypasses the cache. */
  private lookUp(call: InferenceCall): Lookup | undefined {
    return this.deps.cache?.open(call.protocol, call, call.cache_control);
  }

  /**
   * Runs `attempt` on the model's channels, with failover. If the model declares `hedge`, a slow
   * attempt gets a second attempt beside it (see `withHedge`). `discard` receives the result of a
   * canceled attempt that succeeded too late.
   */
  private callChannels<Result>(
    call: InferenceCall,
    signal: CallSignal,
    attempt: (
      permit: ChannelPermit,
      protocol: UpstreamProtocol,
      hedge_signal?: AbortSignal,
    ) => Promise<Result>,
    discard: (served: Served<Result>) => void,
  ): Promise<Served<Result>> {
    const { policy, hedge } = call.model.declaration.routing ?? {};
    const { now, random } = this.deps;
    const options = { now, random, policy, signal, record: call.record };
    const onChannel: Attempt<Result> = (permit, hedge_signal) => {
      const { protocol } = permit.channel.config;
      if (!isChatProtocol(protocol)) throw new Error(`${protocol} is not a chat protocol`);
      return attempt(permit, protocolFor(call.protocol, protocol), hedge_signal);
    };
    const channels = this.channelsOf(call);
    // The organization would pay its provider for both attempts.
    if (hedge && !call.own) return withHedge(channels, options, onChannel, discard);
    return withFailover(channels, options, onChannel);
  }

  /** Returns the channels that can express the call: those of own keys, or the platform's. */
  private channelsOf(call: InferenceCall): readonly ChannelActor[] {
    if (!call.own) return channelsFor(this.deps.channels.serving(call.model.id), call);
    try {
      return channelsFor(call.own.channels, call);
    } catch (error) {
      throw unableError(error);
    }
  }

  /** Adds models that can serve now to an error (see `withAlternatives`). */
  withAlternatives(
    error: unknown,
    call: { readonly key: Caller; readonly model: CatalogueModel },
    accepts?: (model: CatalogueModel) => boolean,
  ): unknown {
    const { catalogue, rankOf = () => 0 } = this.deps;
    const isCallable = (model: CatalogueModel) => this.isCallable(model, call.key);
    return withAlternatives({ catalogue, rankOf, isCallable }, error, call, accepts);
  }
}

/** The part of `Inference` that routes use. */
export type InferencePort = Pick<
  Inference,
  | 'run'
  | 'direct'
  | 'speech'
  | 'chargeDraft'
  | 'isCallable'
  | 'availability'
  | 'downSince'
  | 'withAlternatives'
> &
  Partial<Pick<Inference, 'moves'>>;
