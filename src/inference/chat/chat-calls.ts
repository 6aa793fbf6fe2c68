import type { OwnKeys } from '../../actors/channels/own-keys.ts';
import type { QuotaActor } from '../../actors/money/quota.ts';
import type { Quotas } from '../../actors/money/quotas.ts';
import type { ChatModel } from '../../catalogue/catalogue.ts';
import type { UpstreamAnswer } from '../../upstreams/contract.ts';
import type { AnswerCache, Lookup } from '../cache/answer-cache.ts';
import { answerHeaders } from '../cache/cache-headers.ts';
import type { ChatFollower } from '../cache/chat-flight.ts';
import { findAnswer, serveFree } from '../cache/chat-hit.ts';
import type { StoredHit } from '../cache/entry.ts';
import { Flights } from '../cache/flights.ts';
import { handOverIfAbandoned, ledAnswer } from '../cache/led-answer.ts';
import { type InferenceCall, settleCall } from '../call.ts';
import { noteImpossibleUsage } from '../impossible-usage.ts';
import type { CallLimits } from '../limits/call-limits.ts';
import { MoveDue } from '../limits/move-due.ts';
import { pricedCall } from '../priced-call.ts';
import { onOwnKeys } from '../routing/own-first.ts';
import type { Served } from '../routing/route.ts';
import { callOf, isAbleToServe } from '../soft/able-chat.ts';
import { type MoveDeps, modelAfter } from '../soft/move.ts';
import { StreamRun } from '../streaming/stream.ts';
import { draftOf, textOf, unpaidOf } from '../whole-answer.ts';
import { admitChat } from './admit.ts';
import type { AdmittedChat } from './admitted-chat.ts';
import { cachedAnswer } from './cached-answer.ts';
import { ChatUpstreams, type ChatUpstreamsDeps } from './chat-upstreams.ts';

/** What chat calls need. */
export interface ChatCallsDeps extends ChatUpstreamsDeps {
  readonly quotas: Quotas;
  /** The own keys of organizations. Without it, nobody has any. */
  readonly own?: Pick<OwnKeys, 'serving'>;
  /** The answers that may be sent again. Without it, every call reaches an upstream. */
  readonly cache?: AnswerCache;
  /** The limits of keys. Without it, no key has any. */
  readonly limits?: CallLimits;
  /** Receives errors that cannot reach the client any more. Must not throw. */
  readonly onError: (error: unknown, request_id: string) => void;
}

/** What `Inference` knows of all calls. */
export interface AllCalls {
  readonly moves: MoveDeps;
  /** Adds models that can serve now to an error. */
  withAlternatives(error: unknown, call: InferenceCall): unknown;
}

/**
 * Runs chat calls: reserve → route → call → answer → settle. Each step is a function of its own: as one function,
 * they took 0.4 s of a core to compile in each new process.
 */
export class ChatCalls {
  private readonly flights = new Flights<ChatFollower>();
  private readonly upstreams: ChatUpstreams;

  constructor(
    private readonly deps: ChatCallsDeps,
    private readonly all: AllCalls,
  ) {
    this.upstreams = new ChatUpstreams(deps);
  }

  /** Serves a call on its own keys, or on the platform's channels (see `Inference.run`). */
  run(given: InferenceCall): Response | Promise<Response> {
    const own = this.deps.own?.serving(given.key.organization_id, given.model.id);
    if (!own) return this.runOn(given);
    return onOwnKeys(own, given, (call) => this.runOn(call)).catch((error) =>
      this.runMoved(given, error),
    );
  }

  /** Serves a call on the model to which a soft limit moves it. Throws every other error. */
  private runMoved(given: InferenceCall, error: unknown): Response | Promise<Response> {
    const isAble = (model: ChatModel) => isAbleToServe(this.deps, callOf(given, model));
    const model = modelAfter(this.all.moves, { ...given, isAble }, error);
    return this.run({ ...callOf(given, model), may_move: false });
  }

  private runOn(given: InferenceCall): Response | Promise<Response> {
    const call = pricedCall(given);
    call.record?.resolve(call.model, call.model.category, call.stream);
    const quota = this.deps.quotas.getOrCreate(call.key, call.record?.tags);
    const lookup = call.storeDraft ? undefined : this.lookUp(call);
    const found = lookup && findAnswer(call, lookup);
    return (
      (found && serveFree(call, quota, found)) || this.admit(given, call, lookup, quota, found)
    );
  }

  /** Serves a call that is not answered from memory. It moves as it was given, before members without a price were removed. */
  private async admit(
    given: InferenceCall,
    call: InferenceCall,
    lookup: Lookup | undefined,
    quota: QuotaActor,
    found: StoredHit | undefined,
  ): Promise<Response> {
    let admitted: AdmittedChat;
    try {
      const admission = admitChat(call, lookup, quota, this.deps.limits);
      if (admission instanceof Promise) admitted = await admission;
      else {
        admitted = admission;
        admitted.found = found;
      }
    } catch (error) {
      // A call on own keys moves where these are left.
      if (call.own || !(error instanceof MoveDue)) throw error;
      return this.runMoved(given, error);
    }
    return this.serve(admitted);
  }

  /** Returns the place of a call in the cache; undefined if the call bypasses the cache. */
  private lookUp(call: InferenceCall): Lookup | undefined {
    return this.deps.cache?.open(call.protocol, call, call.cache_control);
  }

  /** Serves a call that has its money. If nothing was delivered, nothing is charged. */
  private async serve(admitted: AdmittedChat): Promise<Response> {
    const { call, lookup } = admitted;
    try {
      const found = lookup && cachedAnswer(admitted, lookup, this.flights);
      const known = found instanceof Promise ? await found : found;
      if (known) return known;
      return await (call.stream ? this.serveStream(admitted) : this.serveWhole(admitted));
    } catch (error) {
      admitted.fail(error);
      throw this.all.withAlternatives(error, call);
    }
  }

  private async serveStream(admitted: AdmittedChat): Promise<Response> {
    const { call, lookup, budget, reservation, flight } = admitted;
    const { result: open } = await this.upstreams.startStream(admitted);
    admitted.isAnswered = true;
    call.record?.answer();
    const onError = (error: unknown) => this.deps.onError(error, call.request_id);
    const run = new StreamRun({ call, open, reservation, budget, lookup, flight, onError });
    if (flight?.isAbandoned) {
      flight.goesOn = true;
      run.runForFollowers();
      throw call.signal.reason;
    }
    return answerHeaders(call.protocol, lookup, true).respond(run.body(), call.own_headers);
  }

  private async serveWhole(admitted: AdmittedChat): Promise<Response> {
    const { call, lookup, budget, reservation, flight } = admitted;
    const completed = this.upstreams.complete(admitted);
    const unpaid = (answered: Served<UpstreamAnswer>) => unpaidOf(answered, budget);
    const served = await (flight ? ledAnswer(completed, flight, unpaid) : completed);
    if (flight) handOverIfAbandoned(served, flight, unpaid);
    const { result: answer, permit } = served;
    admitted.isAnswered = true;
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
    return answerHeaders(call.protocol, lookup, false).respond(body_text, call.own_headers);
  }
}
