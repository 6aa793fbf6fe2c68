/**
 * Refusals of direct calls whose upstream has another protocol than the client. The client gets its
 * own names, or a plain sentence without the upstream's names (P5).
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { TerminalUpstreamError, type UpstreamCall } from '../../../src/upstreams/contract.ts';
import { cohereDirect } from '../../../src/upstreams/direct/cohere.ts';
import { deeplDirect } from '../../../src/upstreams/direct/deepl.ts';
import { geminiDirect } from '../../../src/upstreams/direct/gemini.ts';
import { geminiAudio } from '../../../src/upstreams/direct/gemini-audio.ts';
import { callOf, rejection, startUpstream, type Upstream } from '../upstream.ts';

let upstream: Upstream;
beforeAll(() => {
  upstream = startUpstream();
});
afterAll(() => upstream.stop());

const CALLS: Record<string, (call: UpstreamCall) => Promise<unknown>> = {
  embeddings: (call) => geminiDirect.embed(call, { counted: () => 1, max_tokens: 9 }),
  speech: (call) => geminiAudio.synthesize(call),
  transcript: (call) =>
    geminiAudio.transcribe(call, { task: 'transcriptions', file: new File(['x'], 'x.mp3') }),
  rerank: (call) => cohereDirect.rerank(call, { query: 'q', documents: ['d'] }),
  translation: (call) => deeplDirect.translate(call, { texts: ['t'], target_lang: 'DE' }),
};
const BODY = { model: 'gpt-test', input: 'Hello', voice: 'Kore', response_format: 'pcm' };
/** Names of Gemini's and DeepL's requests that no route of Weir has, and names of products. */
const FOREIGN =
  /request[s]?\[|\w+Request\b|outputDim|output_dim|content[s]?\b|parts|generation_?config|speech_?config|voice_?name|model_type|billed|mime|gemini|google|cohere|deepl/i;

// The messages have the forms of the providers' docs (Gemini API: Troubleshooting; Cohere: Errors;
// DeepL: Error handling) and of the simulator.
test.each<[string, object, string | null]>([
  [
    'embeddings',
    {
      error: {
        code: 400,
        status: 'INVALID_ARGUMENT',
        message: '* BatchEmbedContentsRequest.requests[0].content: contents is not specified\n',
      },
    },
    'input',
  ],
  [
    'embeddings',
    {
      error: {
        code: 400,
        status: 'INVALID_ARGUMENT',
        message: "Invalid value at 'requests[0].output_dimensionality' (TYPE_INT32), 9999",
      },
    },
    'dimensions',
  ],
  [
    'embeddings',
    { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'Unable to embed with Gemini' } },
    null,
  ],
  [
    'speech',
    {
      error: {
        code: 400,
        status: 'INVALID_ARGUMENT',
        message:
          'Voice name Kora is not supported. Allowed voice names are: achernar. * GenerateContentRequest.generation_config.speech_config.voice_config: unknown',
      },
    },
    'voice',
  ],
  [
    'transcript',
    {
      error: {
        code: 400,
        status: 'INVALID_ARGUMENT',
        message: '* GenerateContentRequest.contents[0].parts[1].inline_data.mime_type: unsupported',
      },
    },
    'file',
  ],
  ['rerank', { message: 'invalid request: list of documents must not be empty' }, null],
  ['rerank', { message: "invalid type: parameter 'documents' is of type string" }, 'documents'],
  ['rerank', { message: 'invalid request: Cohere cannot rank this' }, null],
  ['translation', { message: "Value for 'target_lang' not supported." }, 'target_lang'],
  ['translation', { message: "Bad request. Reason: Value for 'model_type' not supported." }, null],
])('P5: %s: %j', async (name, body, param) => {
  upstream.answer = () => Response.json(body, { status: 400 });
  const call = callOf(upstream.url, BODY, { public_model: 'own-model' });
  const error = (await rejection(CALLS[name]?.(call) as Promise<unknown>)) as TerminalUpstreamError;
  expect(error).toBeInstanceOf(TerminalUpstreamError);
  expect(error.public_message).not.toBe('');
  expect(`${error.public_message} ${error.param ?? ''}`).not.toMatch(FOREIGN);
  expect(error.param).toBe(param);
});
