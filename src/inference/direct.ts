import type { Channels } from '../actors/channels.ts';
import type { Quotas } from '../actors/quotas.ts';
import type { DirectModel } from '../catalogue/catalogue.ts';
import { type DirectUsage, directCharge } from '../catalogue/direct-price.ts';
import type { UpstreamCall } from '../upstreams/contract.ts';
import type { DirectProtocol } from '../upstreams/direct/contract.ts';
import { azureDirect, openaiDirect } from '../upstreams/direct/openai-direct.ts';
import type { ChannelProtocol } from '../upstreams/protocol-names.ts';
import type { Caller } from './call.ts';
import { withFailover } from './route.ts';

const PROTOCOLS: Partial<Record<ChannelProtocol, DirectProtocol>> = {
  openai: openaiDirect,
  'azure-openai': azureDirect,
};

/** What statements of usage call it (spec: Management, `scene`). */
const SCENES: Record<DirectModel['operation'], string> = { embedding: 'embedding', stt: 'audio' };

/** One question and one whole answer. */
export interface DirectCall<Answer> {
  readonly request_id: string;
  readonly key: Caller;
  readonly model: DirectModel;
  readonly body: Readonly<Record<string, unknown>>;
  readonly body_text: string;
  readonly signal: AbortSignal;
  /** The most that the call can use. */
  readonly most: DirectUsage;
  readonly ask: (
    protocol: DirectProtocol,
    call: UpstreamCall,
  ) => Promise<{ answer: Answer; usage: DirectUsage; estimated: boolean }>;
}

/**
 * Reserve → route → call → settle, for what is not streamed. Resolves when the charge is committed
 * (P4). Throws WeirError, or the signal's reason when the client left: then nothing is charged.
 */
export async function runDirect<Answer>(
  deps: { quotas: Quotas; channels: Channels; now: () => number; random: () => number },
  call: DirectCall<Answer>,
): Promise<Answer> {
  const { model, key } = call;
  const amount = directCharge(model.price, call.most);
  const quota = deps.quotas.of(key);
  const ask = { amount, minimum: () => amount, signal: call.signal };
  const reservation = quota.tryReserve(amount) ?? (await quota.reserve(ask));
  try {
    const channels = deps.channels
      .serving(model.id)
      .filter(({ config }) => PROTOCOLS[config.protocol] !== undefined);
    const { made, permit } = await withFailover(channels, deps, async (permit) => {
      const { config } = permit.channel;
      const protocol = PROTOCOLS[config.protocol] as DirectProtocol;
      return { permit, made: await call.ask(protocol, upstreamCall(call, config)) };
    });
    permit.succeeded();
    const { input_tokens } = made.usage;
    const line = {
      id: call.request_id,
      request_id: call.request_id,
      organization_id: key.organization_id,
      key_id: key.id,
      scene: SCENES[model.operation],
      access_channel: 'platform' as const,
      model: model.id,
      model_vendor: model.owned_by,
      channel_id: permit.channel.config.id,
      outcome: 'completed' as const,
      estimated: made.estimated,
      input_tokens,
      cached_input_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 0,
    };
    await reservation.settle(line, directCharge(model.price, made.usage));
    return made.answer;
  } catch (error) {
    // After a charge this changes nothing.
    reservation.release();
    throw error;
  }
}

function upstreamCall<Answer>(
  call: DirectCall<Answer>,
  config: {
    id: string;
    base_url: string;
    api_key: string;
    timeout_ms: number;
    models: Readonly<Record<string, string>>;
  },
): UpstreamCall {
  const { id: channel_id, base_url, api_key, timeout_ms, models } = config;
  return {
    target: { channel_id, base_url, api_key, timeout_ms },
    physical_model: models[call.model.id] ?? call.model.id,
    public_model: call.model.id,
    answer_id: call.request_id,
    body_text: call.body_text,
    body: call.body,
    model_max_output_tokens: 0,
    headers: {},
    signal: call.signal,
  };
}
