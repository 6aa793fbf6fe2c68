import type { ChannelActor } from '../../actors/channels/channel.ts';
import type { CatalogueModel } from '../../catalogue/catalogue.ts';
import { isChatProtocol } from '../../protocols/names.ts';
import { protocolFor } from '../../upstreams/chat/protocols.ts';
import { RetryableUpstreamError, type UpstreamCall } from '../../upstreams/contract.ts';
import { EMBEDDERS } from '../../upstreams/direct/protocols.ts';

/** Nobody waits longer to hear that a channel is not well. */
const TIMEOUT_MS = 30_000;
/** The fewest that vendors take. */
const MAX_TOKENS = 16;

/** What a channel answered to Weir itself. */
export interface ProbeResult {
  readonly ok: boolean;
  /** `call`: the model was really asked; `reach`: only whether somebody is there, which costs nothing. */
  readonly kind: 'call' | 'reach';
  readonly latency_ms: number;
  /** Class and internal words of the failure. */
  readonly failure?: string;
  readonly message?: string;
}

/** Asks a channel's model for next to nothing, at the platform's cost. Never throws. */
export async function probe(
  channel: ChannelActor,
  model: CatalogueModel | undefined,
  now: () => number,
): Promise<ProbeResult> {
  const began = now();
  const asked = model && question(channel, model);
  const kind = asked ? 'call' : 'reach';
  try {
    await (asked ? asked() : reach(channel.config.base_url));
    return { ok: true, kind, latency_ms: now() - began };
  } catch (error) {
    const failure = error instanceof RetryableUpstreamError ? error.failure : 'client';
    const message = error instanceof Error ? error.message : String(error);
    return { ok: false, kind, latency_ms: now() - began, failure, message };
  }
}

/** The cheapest call of a model; undefined where every call is dear. */
function question(
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
    return () => embedder.embed(callOf(channel, { model: model.id, input: 'ok' }, 0), () => 0);
  }
  return undefined;
}

function callOf(channel: ChannelActor, body: object, most: number): UpstreamCall {
  const { config, model } = channel;
  const timeout_ms = Math.min(TIMEOUT_MS, config.timeout_ms);
  return {
    target: {
      ...{ channel_id: config.id, base_url: config.base_url, api_key: config.api_key, timeout_ms },
    },
    physical_model: config.models[model] ?? model,
    public_model: model,
    answer_id: 'probe',
    body: body as Record<string, unknown>,
    body_text: JSON.stringify(body),
    model_max_output_tokens: most,
    headers: {},
    signal: AbortSignal.timeout(timeout_ms),
  };
}

/** Whoever answers anything is there. */
async function reach(base_url: string): Promise<void> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetch(base_url, { method: 'HEAD', redirect: 'manual', signal });
    await answer.body?.cancel();
  } catch (error) {
    throw new RetryableUpstreamError('connection', `nobody answers: ${String(error)}`);
  }
}
