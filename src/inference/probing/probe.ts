import type { ChannelActor } from '../../actors/channels/channel.ts';
import type { CatalogueModel } from '../../catalogue/catalogue.ts';
import type { Fault } from '../../errors/fault.ts';
import { isChatProtocol } from '../../protocols/names.ts';
import { MAX_REPORTED_TOKENS } from '../../protocols/token-usage.ts';
import { protocolFor } from '../../upstreams/chat/protocols.ts';
import {
  type ChannelConfig,
  RetryableUpstreamError,
  TerminalUpstreamError,
  type UpstreamCall,
} from '../../upstreams/contract.ts';
import { EMBEDDERS } from '../../upstreams/direct/protocols.ts';
import { Exchange } from '../../upstreams/transport/exchange.ts';

/** Time limit of a probe. */
const TIMEOUT_MS = 30_000;
/** The lowest limit of output tokens that the providers accept. */
const MAX_TOKENS = 16;

/** Result of one probe. */
export interface ProbeResult {
  readonly ok: boolean;
  /**
   * `call`: the probe called the model. `reach`: the probe only checked that the host sends any
   * response. A check of kind `reach` costs nothing.
   */
  readonly kind: 'call' | 'reach';
  readonly latency_ms: number;
  /**
   * Why the probe failed: `failure` of the RetryableUpstreamError, or `client` for any other error.
   */
  readonly failure?: string;
  /** Whose fault the failure is (P19). */
  readonly fault?: Fault;
  readonly message?: string;
}

/**
 * Tests a channel with the cheapest call of the model. If the model has no cheap call, only checks
 * that the host responds. The platform pays for the call. Never throws.
 */
export async function probe(
  channel: ChannelActor,
  model: CatalogueModel | undefined,
  now: () => number,
): Promise<ProbeResult> {
  const started_ms = now();
  const call = model && cheapestCall(channel, model);
  const kind = call ? 'call' : 'reach';
  try {
    await (call ? call() : reachHost(channel.config));
    return { ok: true, kind, latency_ms: now() - started_ms };
  } catch (error) {
    const failure = error instanceof RetryableUpstreamError ? error.failure : 'client';
    const message = error instanceof Error ? error.message : String(error);
    return {
      ok: false,
      kind,
      latency_ms: now() - started_ms,
      failure,
      fault: faultOf(error),
      message,
    };
  }
}

function faultOf(error: unknown): Fault {
  if (error instanceof RetryableUpstreamError) return error.fault;
  return error instanceof TerminalUpstreamError ? 'caller' : 'broken';
}

/**
 * Returns a function that sends the model's cheapest call; undefined if the model has no cheap
 * call.
 */
function cheapestCall(
  channel: ChannelActor,
  model: CatalogueModel,
): (() => Promise<unknown>) | undefined {
  const { protocol } = channel.config;
  if (model.kind === 'chat' && isChatProtocol(protocol)) {
    const messages = [{ role: 'user', content: 'Say ok.' }];
    const body = { model: model.id, messages, max_completion_tokens: MAX_TOKENS };
    return () => protocolFor('openai', protocol).complete(callOf(channel, body, MAX_TOKENS));
  }
  const embedder = EMBEDDERS[protocol];
  if (model.kind === 'direct' && model.operation === 'embedding' && embedder) {
    return () => embedder.embed(callOf(channel, { model: model.id, input: 'ok' }, 0), UNBOUNDED);
  }
  return undefined;
}

/** A probe is not charged, so its tokens are neither counted nor limited. */
const UNBOUNDED = { counted: () => 0, max_tokens: MAX_REPORTED_TOKENS };

function callOf(channel: ChannelActor, body: object, max_output_tokens: number): UpstreamCall {
  const { config, model } = channel;
  const timeout_ms = Math.min(TIMEOUT_MS, config.timeout_ms);
  return {
    target: { ...channel.target, timeout_ms },
    physical_model: config.models[model] ?? model,
    public_model: model,
    answer_id: 'probe',
    body: body as Record<string, unknown>,
    body_text: JSON.stringify(body),
    mostAnswers: () => 1,
    model_context_window: MAX_REPORTED_TOKENS,
    model_max_output_tokens: max_output_tokens,
    headers: {},
    signal: AbortSignal.timeout(timeout_ms),
  };
}

/** Resolves if the host sends any response. Throws RetryableUpstreamError. */
async function reachHost(config: ChannelConfig): Promise<void> {
  const { base_url: url, transport } = config;
  const exchange = new Exchange({
    target: { timeout_ms: TIMEOUT_MS, transport },
    signal: { aborted: false, reason: undefined },
  });
  try {
    await exchange.send({ method: 'HEAD', url, headers: {}, pool: 'calls', may_repeat: true });
    exchange.markComplete();
  } catch (error) {
    throw exchange.toUpstreamError(error);
  } finally {
    exchange.close();
  }
}
