/**
 * Sends every conversation through every pair of protocols to the simulator. The client must read the
 * same answer as a client of the upstream's own protocol, whole and streamed.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { ChatProtocol, ClientProtocol } from '../../../src/protocols/names.ts';
import { protocolFor, requestProtocolOf } from '../../../src/upstreams/chat/protocols.ts';
import type { UpstreamCall } from '../../../src/upstreams/contract.ts';
import type { NeutralRequest } from '../../../src/upstreams/translation/neutral.ts';
import { readRequest, untranslatableError } from '../../../src/upstreams/translation/translate.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { callOf } from '../upstream.ts';
import { BASES, CLIENTS, contentOf, PAIRS, readStreamed } from './clients.ts';
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

async function completeWhole(
  client: ClientProtocol,
  upstream: ChatProtocol,
  request: NeutralRequest,
) {
  const answer = await protocolFor(client, upstream).complete(callFor(client, upstream, request));
  return { ...CLIENTS[client].read(JSON.parse(answer.body_text)), metered: answer.usage };
}

async function completeStreamed(
  client: ClientProtocol,
  upstream: ChatProtocol,
  request: NeutralRequest,
) {
  const call = callFor(client, upstream, { ...request, stream: true });
  return readStreamed(client, await protocolFor(client, upstream).stream(call));
}

describe.each(PAIRS)('a client of %s on an upstream of %s', (client, upstream) => {
  const ownClient = {
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
    const { uses, request: received } = readRequest(client, CLIENTS[client].write(request));
    const refusal = untranslatableError(uses, requestProtocolOf(upstream));
    if (upstream === 'openai-responses' && uses.some(({ feature }) => feature === 'stop')) {
      // OpenAI responses do not support stop sequences (docs/protocols.md).
      expect(refusal?.details.param?.toLowerCase()).toContain('stop');
      return;
    }
    expect(refusal).toBeUndefined();
    // This is the answer that a client of the upstream's own protocol gets.
    const own = await completeWhole(ownClient[upstream], upstream, received);
    const translated = await completeWhole(client, upstream, request);
    expect(contentOf(translated.parts)).toEqual(contentOf(own.parts));
    expect(translated.stop).toBe(own.stop);
    expect(translated.metered).toEqual(own.metered);
    const streaming = await completeStreamed(client, upstream, request);
    expect(contentOf(streaming.parts)).toEqual(contentOf(own.parts));
    expect(streaming.stop).toBe(own.stop);
    expect(streaming.metered).toEqual(own.metered);
    expect(streaming.finals).not.toBe('');
    expect({ ...streaming.usage, reasoning_tokens: 0 }).toEqual({
      ...own.usage,
      reasoning_tokens: 0,
    });
  });
});
