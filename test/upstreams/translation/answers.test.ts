/**
 * Every conversation through every pair of protocols, over the wire to the simulated vendor: what the
 * client reads is what the vendor said, whole and streamed, in its own protocol and in every other.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { ChatProtocol, ClientProtocol } from '../../../src/protocols/names.ts';
import { protocolFor, requestFormOf } from '../../../src/upstreams/chat/protocols.ts';
import type { UpstreamCall } from '../../../src/upstreams/contract.ts';
import type { NeutralRequest } from '../../../src/upstreams/translation/neutral.ts';
import { readRequest, untranslatableError } from '../../../src/upstreams/translation/translate.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { callOf } from '../upstream.ts';
import { BASES, CLIENTS, PAIRS, readStreamed, said } from './clients.ts';
import { CONVERSATIONS } from './conversations.ts';

setDefaultTimeout(60_000);

let simulator: RunningSimulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.stop());

function callFor(
  client: ClientProtocol,
  upstream: ChatProtocol,
  request: NeutralRequest,
): UpstreamCall {
  const body = { model: 'gpt-test', ...CLIENTS[client].write(request), stream: request.stream };
  return callOf(simulator.url + BASES[upstream], body, { model_max_output_tokens: 32_000 });
}

async function whole(client: ClientProtocol, upstream: ChatProtocol, request: NeutralRequest) {
  const answer = await protocolFor(client, upstream).complete(callFor(client, upstream, request));
  return { ...CLIENTS[client].read(JSON.parse(answer.body_text)), metered: answer.usage };
}

async function streamed(client: ClientProtocol, upstream: ChatProtocol, request: NeutralRequest) {
  const call = callFor(client, upstream, { ...request, stream: true });
  return readStreamed(client, await protocolFor(client, upstream).stream(call));
}

describe.each(PAIRS)('a client of %s on an upstream of %s', (client, upstream) => {
  const home = {
    openai: 'openai',
    'openai-responses': 'responses',
    'azure-openai': 'openai',
    anthropic: 'anthropic',
    bedrock: 'anthropic',
    gemini: 'gemini',
    vertex: 'gemini',
  } as const;

  test.each(Object.keys(CONVERSATIONS))('%s', async (title) => {
    const request = CONVERSATIONS[title] as NeutralRequest;
    const { uses, request: asked } = readRequest(client, CLIENTS[client].write(request));
    const refusal = untranslatableError(uses, requestFormOf(upstream));
    if (upstream === 'openai-responses' && uses.some(({ feature }) => feature === 'stop')) {
      // This vendor's newer protocol has no words for them (docs/protocols.md).
      expect(refusal?.details.param?.toLowerCase()).toContain('stop');
      return;
    }
    expect(refusal).toBeUndefined();
    // What the vendor says to its own clients.
    const own = await whole(home[upstream], upstream, asked);
    const seen = await whole(client, upstream, request);
    expect(said(seen.parts)).toEqual(said(own.parts));
    expect(seen.stop).toBe(own.stop);
    expect(seen.metered).toEqual(own.metered);
    const streaming = await streamed(client, upstream, request);
    // The vendor of chat counts its thoughts and does not show them; the others do.
    expect(said(streaming.parts)).toEqual(said(own.parts));
    expect(streaming.stop).toBe(own.stop);
    expect(streaming.metered).toEqual(own.metered);
    expect(streaming.finals).not.toBe('');
    expect({ ...streaming.usage, reasoning_tokens: 0 }).toEqual({
      ...own.usage,
      reasoning_tokens: 0,
    });
  });
});
