import type { CallDetail } from '../../db/records/record.ts';
import type { ChannelActor, ChannelPermit } from '../actors/channels/channel.ts';
import type { OwnServing } from '../actors/channels/own-keys.ts';
import type { ListenableSignal } from '../actors/money/admission-queue.ts';
import type { Consumption, Reservation, Settlement } from '../actors/money/reservation.ts';
import { abilitiesOn } from '../catalogue/abilities.ts';
import type { ChatModel } from '../catalogue/catalogue.ts';
import { type AccessCharge, chargeWith } from '../catalogue/own-key-fee.ts';
import { withoutDashes } from '../errors/request-id.ts';
import type { CacheControl } from '../protocols/cache-controls.ts';
import type { ClientProtocol } from '../protocols/names.ts';
import type { AnswerUsage } from '../protocols/token-usage.ts';
import type { CallSignal, UpstreamCall } from '../upstreams/contract.ts';
import type { BytesInFlight } from '../upstreams/transport/body-budget.ts';
import { chatCharge } from './budget/budget.ts';
import { answersOf } from './budget/output-bound.ts';
import type { KeyLimit } from './limits/limit.ts';
import type { CallRecord } from './records/call-record.ts';
import type { AnswerRecorder } from './repeats/recorder.ts';
import type { OwnHeaders } from './shared-headers.ts';

/** The caller of a request: the part of an API key that inference needs. */
export interface Caller {
  readonly id: string;
  readonly organization_id: string;
  /** Public models that the key may call; empty means all. */
  readonly models: readonly string[];
  /** What the key's cap counts of a call on an own key; default: the charge. */
  readonly cap_counts?: 'charged' | 'list';
  /** Who shares answers of the cache; default: all keys of the organization. */
  readonly cache_scope?: 'organization' | 'key';
  /** The limits of the key; default: none. */
  readonly limits?: readonly KeyLimit[];
}

/** A validated call of a client, on its way through reserve → route → call → settle. */
export interface InferenceCall {
  readonly protocol: ClientProtocol;
  /** UUID; also the id of the call's usage line, and so of its billing transaction. */
  readonly request_id: string;
  readonly key: Caller;
  readonly model: ChatModel;
  readonly body: Readonly<Record<string, unknown>>;
  readonly body_text: string;
  readonly stream: boolean;
  /** Request headers that the protocol passes on to the upstream; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Aborted when the client leaves, or when its deadline passes (see `ClientDeadline`). If the call
   * has a `recorder`, only the deadline aborts it.
   */
  readonly signal: ListenableSignal;
  /** Counts the bytes of answers. Absent if the call holds no bytes of the budget. */
  readonly bytes?: BytesInFlight | undefined;
  /** Records a streamed answer. Set if the call has an idempotency key. */
  readonly recorder?: AnswerRecorder | undefined;
  /** Stores the answer after the charge, and before the last byte of the answer is sent. */
  readonly storeAnswer?: ((answer: object) => Promise<void>) | undefined;
  /** Stores an answer that is not streamed, before the charge (see `Inference.chargeDraft`). */
  readonly storeDraft?: (answer: string, draft: Draft) => Promise<void>;
  /** Notes how the call goes. */
  readonly record?: CallRecord | undefined;
  /** What the client asks of Weir's cache. */
  readonly cache_control?: CacheControl | undefined;
  /** The own keys that serve the call. Without it, the platform's channels do. */
  readonly own?: OwnServing | undefined;
  /** False if soft limits move the call no more; default: true. */
  readonly may_move?: boolean;
  /** The headers of the response to this call alone. Absent if whoever sends the response adds them. */
  readonly own_headers?: OwnHeaders | undefined;
}

/** The usage of an answer that is not charged yet, and the channel that gave the answer. */
export interface Draft {
  readonly usage: AnswerUsage;
  readonly channel_id: string;
  /** True if the upstream did not report the usage. */
  readonly estimated: boolean;
  /** If an own key served the call, what it costs, in millionths of the list price. */
  readonly fee_ppm?: number | undefined;
  /** The model that gave the answer. Missing in drafts of earlier versions. */
  readonly model?: string;
}

/** Returns the members of a draft that say whose account gave the answer. */
export function sourceOf({ channel }: ChannelPermit): Pick<Draft, 'channel_id' | 'fee_ppm'> {
  const { id: channel_id, fee_ppm } = channel.config;
  return fee_ppm === undefined ? { channel_id } : { channel_id, fee_ppm };
}

/** Returns what an answer costs, what the cap of its key counts, and whose account gave it. */
export function draftCharge(
  { model, key }: Pick<InferenceCall, 'model' | 'key'>,
  { usage, fee_ppm }: Pick<Draft, 'usage' | 'fee_ppm'>,
): AccessCharge {
  return chargeWith(fee_ppm, chatCharge(model, usage), key.cap_counts);
}

const ANSWER_PREFIX: Record<ClientProtocol, string> = {
  openai: 'chatcmpl-',
  anthropic: 'msg_',
  responses: 'resp_',
  gemini: '',
};

/** Returns the id of the answer that the client sees. */
export function answerIdOf({ protocol, request_id }: InferenceCall): string {
  return ANSWER_PREFIX[protocol] + withoutDashes(request_id);
}

/** Returns the call as an upstream protocol needs it, for one channel. */
export function upstreamCall(
  call: InferenceCall,
  channel: ChannelActor,
  signal: CallSignal,
  max_output_tokens: number | undefined,
): UpstreamCall {
  const { config } = channel;
  return {
    target: channel.target,
    physical_model: config.models[call.model.id] ?? call.model.id,
    public_model: call.model.id,
    answer_id: answerIdOf(call),
    body_text: call.body_text,
    body: call.body,
    mostAnswers: () => answersOf(call.body),
    model_context_window: call.model.context_window,
    model_max_output_tokens: call.model.max_output_tokens,
    model_abilities: abilitiesOn(call.model.declaration.abilities, config.protocol),
    headers: call.headers,
    bytes: call.bytes,
    signal,
    max_output_tokens,
  };
}

/** Returns what few charges have: why an answer is incomplete, other counts, what the operator pays. */
function detailOf(
  { error_code, fault }: CallRecord,
  outcome: 'completed' | 'partial',
  usage: AnswerUsage,
): CallDetail | undefined {
  const { paid_nano_usd } = usage;
  const counts = countsOf(usage);
  if (outcome === 'completed' && paid_nano_usd === undefined && !counts) return undefined;
  return {
    ...(outcome === 'completed' || error_code === null ? {} : { error_code }),
    ...(outcome === 'completed' || fault === null ? {} : { fault }),
    ...(paid_nano_usd === undefined ? {} : { paid_nano_usd }),
    ...(counts ? { counts } : {}),
  };
}

/** Returns the counts that have a price and no column; undefined for a call without them. */
function countsOf(usage: AnswerUsage): CallDetail['counts'] {
  const { cache_write_1h_tokens = 0, cached_audio_tokens = 0, web_searches = 0 } = usage;
  if (cache_write_1h_tokens + cached_audio_tokens + web_searches === 0) return undefined;
  const counts = { cache_write_1h_tokens, cached_audio_tokens, web_searches };
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

/** Charges a call; resolves when the charge is committed. */
export function settleCall(
  call: InferenceCall,
  reservation: Reservation,
  draft: Draft,
  outcome: 'completed' | 'partial',
): Promise<Settlement> {
  const { usage, channel_id, estimated } = draft;
  const { access, amount, counted } = draftCharge(call, draft);
  const line: Consumption = {
    id: call.request_id,
    request_id: call.request_id,
    organization_id: call.key.organization_id,
    key_id: call.key.id,
    scene: call.model.category,
    ...access,
    model: call.model.id,
    model_vendor: call.model.owned_by,
    channel_id,
    outcome,
    estimated,
    input_tokens: usage.input_tokens,
    cached_input_tokens: usage.cached_input_tokens,
    cache_write_tokens: usage.cache_write_tokens,
    output_tokens: usage.output_tokens,
    reasoning_tokens: usage.reasoning_tokens ?? 0,
    audio_tokens: (usage.audio_input_tokens ?? 0) + (usage.cached_audio_tokens ?? 0),
    record: call.record?.facts(detailOf(call.record, outcome, usage)),
  };
  return reservation.settle(line, amount, counted);
}
