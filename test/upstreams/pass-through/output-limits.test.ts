/**
 * A limit of the output above the model's own, in the protocol of the upstream: it passes through, and
 * the vendor's refusal comes back. The refusals are those that users report: NextChat#3195 (OpenAI),
 * anthropics/claude-code#24451, BerriAI/litellm#10548 (Gemini). Limits of translated requests are
 * tested in `test/upstreams/translation/model-schemas.test.ts`.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { abilitiesOn } from '../../../src/catalogue/abilities.ts';
import { protocolFor, requestProtocolOf } from '../../../src/upstreams/chat/protocols.ts';
import { CHAT_MODELS, type Json } from '../translation/chat-models.ts';
import { callOf, rejection, startUpstream, type Upstream } from '../upstream.ts';

let upstream: Upstream;
beforeAll(() => {
  upstream = startUpstream();
});
afterAll(() => upstream.stop());

const messages = [{ role: 'user', content: 'Hi' }];
const LIMIT = 9_999_999;
const openai = (message: string) => ({
  error: { message, type: 'invalid_request_error', param: 'max_tokens', code: null },
});
const CASES = [
  [
    'openai',
    'gpt-4o',
    { model: 'm', messages, max_tokens: LIMIT },
    openai(
      `max_tokens is too large: ${LIMIT}. This model supports at most 16384 completion tokens, whereas you provided ${LIMIT}.`,
    ),
  ],
  [
    'anthropic',
    'claude-opus-4-5',
    { model: 'm', messages, max_tokens: LIMIT },
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: `max_tokens: ${LIMIT} > 64000, which is the maximum allowed number of output tokens for claude-opus-4-5-20251101`,
      },
    },
  ],
  [
    'gemini',
    'gemini-2.5-pro',
    {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: { maxOutputTokens: LIMIT },
    },
    {
      error: {
        code: 400,
        message: `Unable to submit request because it has a maxOutputTokens value of ${LIMIT} but the supported range is from 1 (inclusive) to 65536 (exclusive). Update the value and try again.`,
        status: 'INVALID_ARGUMENT',
      },
    },
  ],
] as const;

test.each(CASES)(
  '%s: the limit and the refusal pass through',
  async (protocol, id, body, refusal) => {
    upstream.asked.length = 0;
    upstream.answer = () => Response.json(refusal, { status: 400 });
    const model = CHAT_MODELS.find((each) => each.id === id);
    const call = callOf(upstream.url, body as Json, {
      ...{ public_model: id, physical_model: `${id}-20251101` },
      model_max_output_tokens: model?.max_output_tokens ?? 0,
      model_abilities: abilitiesOn(model?.abilities, protocol),
    });
    const failure = await rejection(
      protocolFor(requestProtocolOf(protocol), protocol).complete(call),
    );
    expect(upstream.asked[0]?.text).toContain(String(LIMIT));
    expect(failure).toMatchObject({ name: 'TerminalUpstreamError', status: 400 });
    const message = (failure as { public_message: string }).public_message;
    expect(message).toContain(String(LIMIT));
    expect(message).not.toContain('20251101');
  },
);
