/**
 * Answers of the client's own protocol keep their bytes, apart from what `docs/pass-through.md` lists.
 * The answers have the members that the vendors' types require (openai 7.55.0, @anthropic-ai/sdk
 * 1.11.0, @google/genai 3.1.0), and random members that no type declares.
 */
import { afterAll, describe, expect, test } from 'bun:test';
import { anthropicProtocol } from '../../../src/upstreams/chat/anthropic.ts';
import { geminiChatProtocol } from '../../../src/upstreams/chat/gemini.ts';
import { openaiProtocol } from '../../../src/upstreams/chat/openai.ts';
import { openaiResponsesProtocol } from '../../../src/upstreams/chat/openai-responses.ts';
import type { UpstreamProtocol } from '../../../src/upstreams/contract.ts';
import { anyJson } from '../../support/arbitrary-json.ts';
import { fc } from '../../support/property.ts';
import { callOf, readStream, startUpstream, streamed } from '../upstream.ts';

const upstream = startUpstream();
afterAll(() => upstream.stop());

/** Spaces, big integers and escapes, which a parser and a writer would change. */
const ODD = String.raw`"x_big" : 829836802793406551,"x_float":1.0, "x_text":"é\/\u00e9" `;

interface Case {
  readonly protocol: UpstreamProtocol;
  readonly body: object;
  /** A complete answer. `MORE` stands for the random members. */
  readonly whole: string;
  /** The events of a stream, each as its name and its data. */
  readonly events: readonly (readonly [name: string | undefined, data: string])[];
  /** All texts that change, and what they become. */
  readonly changed: readonly (readonly [from: string, to: string])[];
}

const MODEL = ['"physical-9"', '"gpt-test"'] as const;
const TURNS = { messages: [{ role: 'user', content: 'Hi' }] };

const CASES: Record<string, Case> = {
  'chat completions': {
    protocol: openaiProtocol,
    body: TURNS,
    whole: `{"id":"chatcmpl-up","object":"chat.completion","created":1,"model": "physical-9",MORE,"choices":[{"index":0,"message":{"role":"assistant","content":"Hi","refusal":null},"finish_reason":"stop","logprobs":null}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}`,
    events: [
      [
        undefined,
        `{"id":"chatcmpl-up","object":"chat.completion.chunk","created":1,"model":"physical-9",MORE,"choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]}`,
      ],
      [
        undefined,
        `{"id":"chatcmpl-up","object":"chat.completion.chunk","created":1,"model":"physical-9",MORE,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
      ],
      [undefined, '[DONE]'],
    ],
    changed: [MODEL, ['"chatcmpl-up"', '"answer-of-weir"']],
  },
  responses: {
    protocol: openaiResponsesProtocol,
    body: { input: 'Hi', previous_response_id: 'resp_before' },
    whole: `{"id":"resp_up","object":"response","created_at":1,"model": "physical-9",MORE,"status":"completed","previous_response_id":null,"store":false,"output":[{"type":"message","id":"msg_up","status":"completed","role":"assistant","content":[{"type":"output_text","text":"\\"id\\":\\"msg_up\\"","annotations":[]}]}],"usage":{"input_tokens":3,"output_tokens":1,"total_tokens":4}}`,
    events: [
      [
        'response.output_text.delta',
        `{"type":"response.output_text.delta","item_id": "msg_up",MORE,"output_index":0,"content_index":0,"delta":"Hi","logprobs":[],"sequence_number":1}`,
      ],
      [
        'response.completed',
        `{"type":"response.completed","sequence_number":2,"response":{"id":"resp_up","model":"physical-9",MORE,"status":"completed","previous_response_id":null,"store":false,"output":[{"id":"msg_up","type":"message"}],"usage":{"input_tokens":3,"output_tokens":1,"total_tokens":4}}}`,
      ],
    ],
    changed: [
      MODEL,
      ['"resp_up"', '"answer-of-weir"'],
      ['"msg_up"', '"msg_answer-of-weir0"'],
      ['"store":false', '"store":true'],
      ['"previous_response_id":null', '"previous_response_id":"resp_before"'],
    ],
  },
  messages: {
    protocol: anthropicProtocol,
    body: { ...TURNS, max_tokens: 9 },
    whole: `{"id":"msg_up","type":"message","role":"assistant","model": "physical-9",MORE,"content":[{"type":"text","text":"Hi","citations":null}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}`,
    events: [
      [
        'message_start',
        `{"type":"message_start","message":{"id":"msg_up","type":"message","role":"assistant","model":"physical-9",MORE,"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}}`,
      ],
      [
        'content_block_start',
        `{"type":"content_block_start","index":0,MORE,"content_block":{"type":"text","text":""}}`,
      ],
      [
        'content_block_delta',
        `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"},MORE}`,
      ],
      ['content_block_stop', `{"type":"content_block_stop","index":0,MORE}`],
      [
        'message_delta',
        `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},MORE,"usage":{"output_tokens":1}}`,
      ],
      ['message_stop', `{"type":"message_stop",MORE}`],
    ],
    changed: [MODEL, ['"msg_up"', '"answer-of-weir"']],
  },
  generateContent: {
    protocol: geminiChatProtocol,
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    whole: `{"candidates":[{"content":{"parts":[{"text":"Hi","thoughtSignature":"c2ln"}],"role":"model"},"finishReason":"STOP","index":0}],MORE,"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1,"totalTokenCount":4},"modelVersion": "physical-9","responseId":"up"}`,
    events: [
      [
        undefined,
        `{"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"},"finishReason":"STOP","index":0}],MORE,"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1,"totalTokenCount":4},"modelVersion":"physical-9","responseId":"up"}`,
      ],
    ],
    changed: [
      ['"physical-9"', '"gpt-test"'],
      ['"responseId":"up"', '"responseId":"answer-of-weir"'],
    ],
  },
};

/** Random members that no vendor declares, as JSON text. */
const more = fc
  .array(fc.tuple(fc.stringMatching(/^x_[a-z]{1,9}$/), anyJson), { maxLength: 3 })
  .map((members) =>
    [ODD, ...members.map(([name, value], at) => `"${name}${at}": ${JSON.stringify(value)}`)].join(),
  );

const withMore = (text: string, members: string) => text.replaceAll('MORE', () => members);

/** Returns the text as the client must get it. */
function expected(text: string, { changed }: Case): string {
  return changed.reduce((shown, [from, to]) => shown.replaceAll(from, () => to), text);
}

describe.each(Object.entries(CASES))('%s in the client’s own protocol', (_, each) => {
  const bodyOf = (stream: boolean) => ({ model: 'gpt-test', stream, ...each.body });

  test('keep their bytes in a complete answer', async () => {
    await fc.assert(
      fc.asyncProperty(more, async (members) => {
        const answer = withMore(each.whole, members);
        upstream.answer = () => new Response(answer);
        const call = callOf(upstream.url, bodyOf(false));
        expect((await each.protocol.complete(call)).body_text).toBe(expected(answer, each));
      }),
    );
  });

  test('keep their bytes in each event of a stream', async () => {
    await fc.assert(
      fc.asyncProperty(more, async (members) => {
        const written = each.events
          .map(([name, data]) => `${name ? `event: ${name}\n` : ''}data: ${data}\n\n`)
          .join('');
        const answer = withMore(written, members);
        upstream.answer = () => streamed([answer]);
        const { text, error } = await readStream(each.protocol, callOf(upstream.url, bodyOf(true)));
        expect(error).toBeUndefined();
        expect(text).toBe(expected(answer, each));
      }),
      { numRuns: 50 },
    );
  });
});
