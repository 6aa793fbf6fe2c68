/** An error means the same in the envelopes that proxies and clouds put around it. */
import { describe, expect, test } from 'bun:test';
import { TerminalUpstreamError } from '../../../../src/upstreams/contract.ts';
import { classifyFailure } from '../../../../src/upstreams/transport/failures.ts';
import { callOf } from '../../upstream.ts';
import { VENDOR_ERRORS } from './all.ts';
import type { ErrorPayload } from './payload.ts';

/** The vendors whose errors others pass on. */
const PASSED_ON = [
  ...['OpenAI', 'Azure OpenAI', 'Anthropic', 'Google', 'AWS Bedrock', 'DashScope', 'Moonshot'],
  ...['DeepSeek', 'Groq', 'Mistral', 'Fireworks', 'Together', 'Cerebras', 'SiliconFlow', 'vLLM'],
  ...['NVIDIA', 'MiniMax', 'Volcengine Ark', 'Zhipu', 'xAI'],
];
/** The members around their errors say what the codes mean. */
const NEVER_ALONE = ['Zhipu', 'xAI'];
const ALONE = 'the error alone (continuedev/continue#10059)';

/** Each envelope was seen in the thread that it names. */
const ENVELOPES: Readonly<Record<string, (status: number, body: object) => object>> = {
  'a list (google-gemini/gemini-cli#14811)': (_, body) => [body],
  [ALONE]: (_, body) => ('error' in body ? (body.error as object) : body),
  'the message of Google (lbjlaq/Antigravity-Manager#654)': (code, body) => ({
    error: { code, message: JSON.stringify(body) },
  }),
  'the metadata of OpenRouter (lobehub/lobehub#7298)': (code, body) => ({
    error: {
      ...{ message: 'Provider returned error', code },
      metadata: { raw: JSON.stringify(body), provider_name: 'A provider' },
    },
  }),
};

function classOf({ status, headers, protocol }: ErrorPayload, body: object) {
  const call = callOf('https://api.upstream.example/v1', {});
  const target = { ...call.target, ...(protocol === undefined ? {} : { protocol }) };
  const text = JSON.stringify(body);
  const error = classifyFailure({ ...call, target }, status, new Headers(headers), text);
  return error instanceof TerminalUpstreamError ? `caller: ${error.error_id}` : error.fault;
}

const payloads = VENDOR_ERRORS.filter(({ vendor }) => PASSED_ON.includes(vendor)).flatMap((each) =>
  each.payloads.map((payload) => [each.vendor, payload] as const),
);

describe.each(Object.entries(ENVELOPES))('P19: inside %s', (name, wrap) => {
  test('every error keeps its class', () => {
    const changed = payloads.flatMap(([vendor, payload]) => {
      const { status, body } = payload;
      if (typeof body === 'string' || Array.isArray(body)) return [];
      if (name === ALONE && NEVER_ALONE.includes(vendor)) return [];
      const [alone, wrapped] = [classOf(payload, body), classOf(payload, wrap(status, body))];
      return alone === wrapped ? [] : [{ vendor, status, body, alone, wrapped }];
    });
    expect(changed).toEqual([]);
  });
});
