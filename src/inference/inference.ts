import type { Availability } from '../actors/channels/availability.ts';
import type { ChannelActor, ChannelPermit } from '../actors/channels/channel.ts';
import type { Channels } from '../actors/channels/channels.ts';
import type { Quotas } from '../actors/money/quotas.ts';
import type { Reservation } from '../actors/money/reservation.ts';
import { abilitiesOn } from '../catalogue/abilities.ts';
import { type Catalogue, type CatalogueModel, isAllowed } from '../catalogue/catalogue.ts';
import { WeirError } from '../errors/weir-error.ts';
import { isChatProtocol } from '../protocols/names.ts';
import { bedrockRefusal } from '../upstreams/chat/bedrock-limits.ts';
import { protocolFor, requestProtocolOf } from '../upstreams/chat/protocols.ts';
import type { UpstreamAnswer, UpstreamProtocol } from '../upstreams/contract.ts';
import { beyondModel } from '../upstreams/translation/abilities.ts';
import type { ReadRequest } from '../upstreams/translation/neutral.ts';
import { readRequest, untranslatableError } from '../upstreams/translation/translate.ts';
import { Budget, chatCharge } from './budget/budget.ts';
import type { AnswerCache, Lookup } from './cache/answer-cache.ts';
import { answerHeaders } from './cache/cache-headers.ts';
import { findAnswer, serveHit } from './cache/chat-hit.ts';
import type { Flight, UnpaidAnswer } from './cache/flight.ts';
import { followFlight } from './cache/follow.ts';
import { untilDeadline } from './cache/until-deadline.ts';
import { type Caller, type Draft, type InferenceCall, settleCall, upstreamCall } from './call.ts';
import { ClientDeadline } from './client-deadline.ts';
import { type DirectAnswer, type DirectCall, runDirect } from './direct/direct.ts';
import { runSpeech, type SpeechCall, type StreamedSpeech } from './direct/speech.ts';
import { noteImpossibleUsage } from './impossible-usage.ts';
import { refuseUnpriced, withoutUnpricedSearch } from './requests/billed-parameters.ts';
import { withHedge } from './routing/hedge.ts';
import { type Attempt, type Served, withFailover } from './routing/route.ts';
import { openStream } from './streaming/open-stream.ts';
import { StopSignal } from './streaming/stop-signal.ts';
import { StreamRun } from './streaming/stream.ts';
import type { OpenStream } from './streaming/stream-parts.ts';

const MAX_ALTERNATIVES = 3;

/** Dependencies of `Inference`. */
export interface InferenceDeps {
  quotas: Quotas;
  channels: Channels;
  catalogue: () => Catalogue;
  now: () => number;
  random: () => number;
  /**
   * Returns the place of a model in the ranking of its scene. Without it, the order of the
   * catalogue is used.
   */
  rankOf?: (model: CatalogueModel) => number;
  /** The answers that may be sent again. Without it, every call reaches an upstream. */
  cache?: AnswerCache;
  /** Receives errors that cannot reach the client any more. Must not throw. */
  onError: (error: unknown, request_id: string) => void;
}

/** Runs calls: reserve → route → call → answer → settle. */
export class Inference {
  constructor(private readonly deps: InferenceDeps) {}

  /**
   * Serves a chat call. For a stream, the response is returned when the upstream's first tokens
   * have arrived. Throws WeirError, or the signal's reason if the signal is aborted.
   */
  async run(given: InferenceCall): Promise<Response> {
    const call = withoutUnpricedSearch(given);
    refuseUnpriced(call.protocol, call.body, call.model);
    call.record?.resolve(call.model, call.model.category, call.stream);
    const budget = new Budget(call);
    const amount = budget.amountToReserve(call.stream);
    const quota = this.deps.quotas.getOrCreate(call.key);
    const reservation =
      quota.tryReserve(amount, call.request_id) ??
      (await quota.reserve(budget.admissionRequest(amount, call.signal, call.request_id)));
    const max_output_tokens = budget.outputLimitFor(reservation.amount, amount);
    call.record?.reserve(reservation.amount);
    let flight: Flight | undefined;
    try {
      const lookup = call.storeDraft ? undefined : this.lookUp(call);
      const hit = lookup && findAnswer(call, lookup);
      if (hit) return await serveHit(call, reservation, hit);
      const running = lookup?.findFlight();
      const followed =
        lookup && running
          ? await followFlight(running, { call, reservation, budget }, lookup)
          : undefined;
      if (followed) return followed;
      // A call whose flight failed runs on its own, so that a herd does not wait call after call.
      flight = running ? undefined : lookup?.lead(call);
      const led = flight ? { ...call, signal: new StopSignal(flight) } : call;
      if (call.stream) {
        const { result } = await this.startStream(led, max_output_tokens);
        call.record?.answer();
        const run = this.streamRun(call, budget, reservation, result, { lookup, flight });
        if (flight?.isAbandoned) {
          run.runForFollowers();
          flight = undefined;
          throw call.signal.reason;
        }
        return new Response(run.body(), answerHeaders(lookup, true));
      }
      const completed = this.complete(led, max_output_tokens);
      const { result: answer, permit } = await (flight && call.signal instanceof ClientDeadline
        ? untilDeadline(completed, flight, (served) => unpaidOf(served, budget))
        : completed);
      permit.succeeded();
      if (answer.has_impossible_usage) noteImpossibleUsage(permit, this.deps, call.request_id);
      const { draft, text: body_text } = unpaidOf({ result: answer, permit }, budget);
      if (flight?.isAbandoned) {
        flight.handOver({ text: body_text, draft });
        flight = undefined;
        throw call.signal.reason;
      }
      if (call.storeDraft) await call.storeDraft(body_text, draft);
      const { charged, overrun } = await settleCall(call, reservation, draft, 'completed');
      if (call.record) call.record.isCharged = true;
      if (call.storeAnswer) await call.storeAnswer(JSON.parse(body_text));
      const { usage } = draft;
      if (lookup) {
        const cost_nano_usd = charged + overrun;
        const kept = { text: body_text, is_stream: false, usage, cost_nano_usd };
        lookup.keep(kept);
        flight?.finish({ state: 'answered', kept, rest: '' });
      }
      return new Response(body_text, answerHeaders(lookup, false));
    } catch (error) {
      // If nothing was delivered, nothing is charged. After a charge, `release` has no effect.
      reservation.release();
      // At the deadline of this call, the work goes on for the calls that follow.
      const goesOn = flight?.isAbandoned && error === call.signal.reason;
      if (!goesOn) flight?.finish({ state: 'failed' });
      throw this.withAlternatives(error, call);
    }
  }

  /**
   * Charges the answer that an earlier attempt stored. That attempt may already have charged the
   * answer; a repeated charge has no effect (P3). Throws WeirError if the money does not cover the
   * answer.
   */
  async chargeDraft(call: InferenceCall, draft: Draft): Promise<void> {
    const amount = chatCharge(call.model, draft.usage);
    call.record?.resolve(call.model, call.model.category);
    const quota = this.deps.quotas.getOrCreate(call.key);
    const { request_id: call_id, signal } = call;
    const request = { amount, minimum: () => amount, signal, call_id };
    const reservation = quota.tryReserve(amount, call_id) ?? (await quota.reserve(request));
    await settleCall(call, reservation, draft, 'completed');
    if (call.record) call.record.isCharged = true;
  }

  /** Serves a direct call that is not streamed. Throws like `run`. */
  async direct<Protocol, Answer>(
    call: DirectCall<Protocol, DirectAnswer<Answer>>,
  ): Promise<Answer> {
    try {
      return await runDirect(this.deps, call);
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
      return await runSpeech(this.deps, { ...call, onError });
    } catch (error) {
      throw this.withAlternatives(error, call, (model) => takesBody(model, call.body));
    }
  }

  /** True if the key may call the model, and a channel would take the call now (P13). */
  isCallable(model: CatalogueModel, key: Caller): boolean {
    return isAllowed(key.models, model) && this.deps.channels.canServe(model.id);
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
    max_output_tokens: number | undefined,
  ): Promise<Served<UpstreamAnswer>> {
    return this.callChannels(
      call,
      (permit, protocol, hedge_signal) => {
        const signal = hedge_signal ? new StopSignal(call.signal, hedge_signal) : call.signal;
        return protocol.complete(upstreamCall(call, permit.channel, signal, max_output_tokens));
      },
      (loser) => loser.permit.succeeded(),
    );
  }

  /** Opens a stream on the first channel that serves the call, up to its first tokens. */
  private startStream(
    call: InferenceCall,
    max_output_tokens: number | undefined,
  ): Promise<Served<OpenStream>> {
    return this.callChannels(
      call,
      (permit, protocol, hedge_signal) =>
        openStream(call, permit, protocol, max_output_tokens, hedge_signal),
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
    { lookup, flight }: { lookup: Lookup | undefined; flight: Flight | undefined },
  ): StreamRun {
    const onError = (error: unknown) => this.deps.onError(error, call.request_id);
    return new StreamRun({ call, open, reservation, budget, lookup, flight, onError });
  }

  /** Returns the place of a call in the cache; undefined if the call bypasses the cache. */
  private lookUp(call: InferenceCall): Lookup | undefined {
    const { protocol, request_id, key, model, body, body_text, headers, cache_control } = call;
    const request = { request_id, key, model, body, body_text, headers };
    return this.deps.cache?.open({ ...request, kind: protocol, control: cache_control });
  }

  /**
   * Runs `attempt` on the model's channels, with failover. If the model declares `hedge`, a slow
   * attempt gets a second attempt beside it (see `withHedge`). `discard` receives the result of a
   * canceled attempt that succeeded too late.
   */
  private callChannels<Result>(
    call: InferenceCall,
    attempt: (
      permit: ChannelPermit,
      protocol: UpstreamProtocol,
      hedge_signal?: AbortSignal,
    ) => Promise<Result>,
    discard: (served: Served<Result>) => void,
  ): Promise<Served<Result>> {
    const { policy, hedge } = call.model.declaration.routing ?? {};
    const { now, random } = this.deps;
    const options = { now, random, policy, signal: call.signal, record: call.record };
    const onChannel: Attempt<Result> = (permit, hedge_signal) => {
      const { protocol } = permit.channel.config;
      if (!isChatProtocol(protocol)) throw new Error(`${protocol} is not a chat protocol`);
      return attempt(permit, protocolFor(call.protocol, protocol), hedge_signal);
    };
    const channels = this.channelsFor(call);
    if (hedge) return withHedge(channels, options, onChannel, discard);
    return withFailover(channels, options, onChannel);
  }

  /**
   * Returns the model's channels that can express every parameter of the call. If the model has
   * chat channels, but none of them can, throws WeirError (400) that names the parameter.
   */
  private channelsFor(call: InferenceCall): readonly ChannelActor[] {
    const serving = this.deps.channels.serving(call.model.id);
    for (const channel of serving) {
      const { protocol } = channel.config;
      // Bedrock speaks the client's own protocol, but not all of it.
      if (protocol === 'bedrock' || !isNative(channel, call))
        return channelsThatExpress(serving, call);
    }
    return serving;
  }

  /**
   * If the error is `all_channels_failed`, adds models of the same scene that can serve now (spec:
   * Errors). Returns any other error unchanged. `accepts` tells whether another model could serve
   * the same request. Without `accepts`, all models of the scene that can serve now are added.
   */
  withAlternatives(
    error: unknown,
    call: { readonly key: Caller; readonly model: CatalogueModel },
    accepts: (model: CatalogueModel) => boolean = () => true,
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
          this.isCallable(model, call.key) &&
          accepts(model),
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

  private rank(model: CatalogueModel): number {
    return this.deps.rankOf?.(model) ?? 0;
  }
}

/** True if the channel's upstream reads the body in the client's own protocol. */
function isNative({ config }: ChannelActor, call: InferenceCall): boolean {
  return isChatProtocol(config.protocol) && requestProtocolOf(config.protocol) === call.protocol;
}

/**
 * Returns the channels whose protocol can express every parameter of the call. If there is no such
 * channel, throws the error of the first channel, which names the parameter.
 */
function channelsThatExpress(
  serving: readonly ChannelActor[],
  call: InferenceCall,
): readonly ChannelActor[] {
  let read: ReadRequest | undefined;
  const readCall = () => {
    read ??= readRequest(call.protocol, call.body);
    return read;
  };
  const uses = () => readCall().uses;
  let refusal: WeirError | undefined;
  const able = serving.filter((channel) => {
    const { protocol, models } = channel.config;
    if (!isChatProtocol(protocol)) return false;
    const abilities = abilitiesOn(call.model.declaration.abilities, protocol);
    let error = isNative(channel, call)
      ? undefined
      : (untranslatableError(uses(), requestProtocolOf(protocol)) ??
        beyondModel(readCall(), abilities));
    if (protocol === 'bedrock') {
      const physical_model = models[call.model.id] ?? call.model.id;
      const model = { physical_model, public_model: call.model.id, abilities };
      error ??= bedrockRefusal({ client: call.protocol, body: call.body }, model, uses);
    }
    refusal ??= error;
    return !error;
  });
  if (able.length === 0 && refusal) throw refusal;
  return able;
}

/** True if a model for direct calls can serve a body that its route has accepted (P13). */
function takesBody(model: CatalogueModel, body: Readonly<Record<string, unknown>>): boolean {
  if (model.kind !== 'direct') return false;
  try {
    model.contract.check(body);
    return true;
  } catch {
    return false;
  }
}

/** Returns an answer as its client gets it, with the usage to charge. */
function unpaidOf(
  { result: answer, permit }: Served<UpstreamAnswer>,
  budget: Budget,
): UnpaidAnswer {
  const draft = draftOf(answer, permit, budget);
  return { draft, text: answer.withUsage ? answer.withUsage(draft.usage) : answer.body_text };
}

function draftOf(answer: UpstreamAnswer, permit: ChannelPermit, budget: Budget): Draft {
  return {
    usage: answer.usage ?? budget.estimate(answer.produced(), null, answer.web_searches),
    channel_id: permit.channel.config.id,
    estimated: answer.usage === null,
  };
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
>;
