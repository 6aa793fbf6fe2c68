/** One answer as each protocol writes it, for tests that send it again. */
import type { ClientProtocol } from '../../../src/protocols/names.ts';
import { anyText } from '../../support/arbitrary-json.ts';
import { fc } from '../../support/property.ts';

export interface Said {
  text: string;
  thought: string;
  call: { name: string; input: object } | undefined;
}

export const anySaid: fc.Arbitrary<Said> = fc.record({
  text: anyText.map((text) => text.toWellFormed()),
  thought: anyText.map((text) => text.toWellFormed()),
  call: fc.option(
    fc.record({ name: fc.constantFrom('look', 'go'), input: fc.dictionary(fc.string(), fc.nat()) }),
    { nil: undefined },
  ),
});

/** Returns an answer as each protocol writes it. */
export const ANSWERS: Record<ClientProtocol, (said: Said) => Record<string, unknown>> = {
  openai: ({ text, thought, call }) => ({
    ...{ id: 'chatcmpl-old00000000', created: 7, model: 'm', system_fingerprint: 'fp' },
    object: 'chat.completion',
    choices: [
      {
        ...{ index: 0, finish_reason: call ? 'tool_calls' : 'stop' },
        logprobs: { content: [{ token: 'a', logprob: -1 }], refusal: null },
        message: {
          ...{ role: 'assistant', content: text === '' ? null : text, refusal: null },
          ...(thought === '' ? {} : { reasoning_content: thought }),
          ...(call
            ? {
                tool_calls: [
                  {
                    ...{ id: 'call_old000000000', type: 'function' },
                    function: { name: call.name, arguments: JSON.stringify(call.input) },
                  },
                ],
              }
            : {}),
        },
      },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  }),
  anthropic: ({ text, thought, call }) => ({
    ...{ id: 'msg_old000000000', type: 'message', role: 'assistant', model: 'm' },
    content: [
      { type: 'thinking', thinking: thought, signature: 'signed' },
      { type: 'text', text, citations: null },
      ...(call ? [{ type: 'tool_use', id: 'toolu_old000000000', ...call }] : []),
    ],
    ...{ stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null },
    usage: { input_tokens: 3, cache_read_input_tokens: 1, output_tokens: 4 },
  }),
  responses: ({ text, thought, call }) => ({
    ...{ id: 'resp_old000000000', object: 'response', status: 'completed', model: 'm' },
    ...{ metadata: {}, store: true, previous_response_id: null },
    output: [
      {
        id: 'rs_old000000000',
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: thought }],
      },
      {
        ...{ id: 'msg_old000000000', type: 'message', role: 'assistant', status: 'completed' },
        content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
      },
      ...(call
        ? [
            {
              ...{ id: 'fc_old000000000', type: 'function_call', status: 'completed' },
              ...{ call_id: 'call_old000000000', name: call.name },
              arguments: JSON.stringify(call.input),
            },
          ]
        : []),
    ],
    usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
  }),
  gemini: ({ text, thought, call }) => ({
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            ...(thought === '' ? [] : [{ text: thought, thought: true }]),
            ...(text === '' && (call || thought !== '') ? [] : [{ text }]),
            ...(call
              ? [{ functionCall: { id: 'call_old000000000', name: call.name, args: call.input } }]
              : []),
          ],
        },
        ...{ finishReason: 'STOP', index: 0 },
      },
    ],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4 },
    ...{ modelVersion: 'm', responseId: 'old000000000' },
  }),
};
