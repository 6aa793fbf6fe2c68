import type { Availability } from '../actors/channels/availability.ts';
import type { Channels } from '../actors/channels/channels.ts';
import type { OwnKeys } from '../actors/channels/own-keys.ts';
import type { Quotas } from '../actors/money/quotas.ts';
import { type CatalogueFor, type CatalogueModel, isAllowed } from '../catalogue/catalogue.ts';
import { takesBody, withAlternatives } from './alternatives.ts';
import type { AnswerCache } from './cache/answer-cache.ts';
import type { DirectFollower } from './cache/cached-direct.ts';
import { Flights } from './cache/flights.ts';
import { type Caller, type Draft, draftCharge, type InferenceCall, settleCall } from './call.ts';
import { ChatCalls } from './chat/chat-calls.ts';
import { type DirectAnswer, type DirectCall, runDirect } from './direct/direct.ts';
import { runSpeech, type SpeechCall, type StreamedSpeech } from './direct/speech.ts';
import type { CallLimits } from './limits/call-limits.ts';
import { onOwnKeys } from './routing/own-first.ts';
import { servingOf } from './soft/able-chat.ts';
import { type MoveDeps, noteBudgets } from './soft/move.ts';

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
  private readonly chat: ChatCalls;
  private readonly direct_flights = new Flights<DirectFollower>();

  constructor(private readonly deps: InferenceDeps) {
    this.chat = new ChatCalls(deps, this);
  }

  /**
   * Serves a chat call. For a stream, the response is returned when the upstream's first tokens
   * have arrived. Returns no promise for an answer from the cache. Throws WeirError, or the signal's reason if the
   * signal is aborted.
   */
  run(given: InferenceCall): Response | Promise<Response> {
    return this.chat.run(given);
  }

  /** What decides whether a call can move to another model. A port without it moves none. */
  readonly moves: MoveDeps = {
    catalogue: (organization_id) => this.deps.catalogue(organization_id),
    isCallable: (model, key) => this.isCallable(model, key),
  };

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
