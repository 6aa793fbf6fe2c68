/**
 * JSON mode and seeds on Claude, which has neither. LangChain's `jsonMode` (@langchain/openai 1.6.0) sends
 * the request: Weir must not refuse it, and must ask Claude for a JSON object.
 */
import { afterAll, expect, test } from 'bun:test';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import { countTokens } from '../../../src/inference/budget/tokens.ts';
import { protocolFor } from '../../../src/upstreams/chat/protocols.ts';
import { callOf, rejection, startUpstream } from '../upstream.ts';

const upstream = startUpstream();
upstream.answer = () => new Response('{}', { status: 500 });
afterAll(() => upstream.stop());

/** Returns the body that LangChain sends for an answer in JSON mode. */
async function sentByLangchain(): Promise<Record<string, unknown>> {
  const model = new ChatOpenAI({
    ...{ model: 'claude-haiku-4-5', apiKey: 'k', maxRetries: 0 },
    configuration: { baseURL: upstream.url },
    modelKwargs: { seed: 7 },
  });
  const typed = model.withStructuredOutput(z.object({ city: z.string() }), { method: 'jsonMode' });
  await rejection(typed.invoke('Name a city, as JSON.'));
  return JSON.parse(upstream.asked.at(-1)?.text ?? '{}') as Record<string, unknown>;
}

test('LangChain’s JSON mode reaches Claude as an instruction, without the seed', async () => {
  const body = await sentByLangchain();
  expect(body).toMatchObject({ response_format: { type: 'json_object' }, seed: 7 });
  await rejection(
    protocolFor('openai', 'anthropic').complete(
      callOf(upstream.url, body as Record<string, unknown>),
    ),
  );
  const sent = JSON.parse(upstream.asked.at(-1)?.text ?? '{}') as { system: string };
  expect(sent.system).toContain('one JSON object');
  expect(JSON.stringify(sent)).not.toContain('seed');
  // A reservation counts each byte of the client's request as a token.
  const member = JSON.stringify({ response_format: body['response_format'] });
  expect(countTokens(sent.system)).toBeLessThan(Buffer.byteLength(member));
});
