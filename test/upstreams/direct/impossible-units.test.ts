/** Impossible counts of units in the answers of direct calls and of generations. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { noteImpossibleUsage } from '../../../src/inference/impossible-usage.ts';
import { readGenerationTokens, readSeconds } from '../../../src/protocols/generation-usage.ts';
import { countIn } from '../../../src/protocols/token-usage.ts';
import { cohereDirect } from '../../../src/upstreams/direct/cohere.ts';
import { deeplDirect } from '../../../src/upstreams/direct/deepl.ts';
import { geminiAudio } from '../../../src/upstreams/direct/gemini-audio.ts';
import { openaiDirect } from '../../../src/upstreams/direct/openai.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { channelActor, channelConfig } from '../../support/channels.ts';
import { callOf, startUpstream, type Upstream } from '../upstream.ts';

let upstream: Upstream;
beforeAll(() => {
  upstream = startUpstream();
});
afterAll(() => upstream.stop());

const NONSENSE: unknown[] = [-5_000_000, 0.5, 1e300, '12', true, {}, [1]];
const call = (body: Record<string, unknown> = {}) => callOf(upstream.url, body);
const answer = (body: object) => {
  upstream.answer = () => Response.json(body);
};

describe.each(NONSENSE.map((each) => [each]))('the count %p', (count) => {
  test('of an embedding is replaced by Weir’s own', async () => {
    answer({ data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: count } });
    const own = { counted: () => 7, max_tokens: 20 };
    const { body_text, input_tokens } = await openaiDirect.embed(call(), own);
    expect(input_tokens).toBe('impossible');
    expect(JSON.parse(body_text).usage).toEqual({ prompt_tokens: 7, total_tokens: 7 });
  });

  test('of search units or characters is no report', async () => {
    const results = [{ index: 0, relevance_score: 0.5 }];
    answer({ results, meta: { billed_units: { search_units: count } } });
    const ranked = await cohereDirect.rerank(call(), { query: 'q', documents: ['d'] });
    expect(ranked.search_units).toBe('impossible');
    answer({
      translations: [
        { text: 'a', billed_characters: 4 },
        { text: 'b', billed_characters: count },
      ],
    });
    const what = { texts: ['a', 'b'], target_lang: 'DE' };
    const translated = await deeplDirect.translate(call(), what);
    expect(translated.characters).toBe('impossible');
  });

  test('of speech tokens is no report', async () => {
    const data = Buffer.alloc(48).toString('base64');
    answer({
      candidates: [{ content: { parts: [{ inlineData: { mimeType: 'audio/pcm', data } }] } }],
      usageMetadata: { promptTokenCount: 4, candidatesTokenCount: count },
    });
    const body = { input: 'Hi', voice: 'Kore', response_format: 'pcm' };
    const speech = await geminiAudio.synthesize(call(body));
    expect(speech.usage()).toBe('impossible');
  });

  test('of generated tokens is no report', () => {
    const read = (usage: object) =>
      readGenerationTokens(usage, (reported) => ({
        ...{ text_input: countIn(reported, 'input_tokens') - 2, image_input: 2, cached_input: 0 },
        output: countIn(reported, 'output_tokens'),
      }));
    expect(read({ input_tokens: 5, output_tokens: 6 })).toMatchObject({ output: 6 });
    expect(read({ input_tokens: 5, output_tokens: count })).toBeUndefined();
    // The parts are more than the whole.
    expect(read({ input_tokens: 1, output_tokens: 6 })).toBeUndefined();
  });
});

test('an embedding that reports more than twice the largest possible count is no report', async () => {
  answer({ data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: 41 } });
  const own = { counted: () => 7, max_tokens: 20 };
  expect((await openaiDirect.embed(call(), own)).input_tokens).toBe('impossible');
});

describe('the length of audio and video', () => {
  test.each([-1, 0, 36_001, 1e300, Number.NaN, 'long', true, {}, null, undefined])(
    '%p is no report',
    (seconds) => expect(readSeconds(seconds)).toBeUndefined(),
  );
  test.each([
    [5, 5],
    [5.041, 5.041],
    ['8', 8],
  ])('%p is %p seconds', (seconds, read) => expect(readSeconds(seconds)).toBe(read));

  test('of a transcript is the end of its last segment if the report is impossible', async () => {
    const file = new File(['sound'], 'a.mp3');
    const segments = [{ id: 0, start: 0, end: 3.5, text: 'Hello' }];
    for (const duration of [-5, 1e300, 'long', null]) {
      answer({ text: 'Hello', duration, segments });
      const read = await openaiDirect.transcribe(call(), { task: 'transcriptions', file });
      expect(read).toMatchObject({ duration: 3.5, has_impossible_usage: true });
    }
  });
});

test('the operator sees impossible usage, and the channel stays healthy', () => {
  const channel = channelActor(channelConfig('a', {}), new VirtualClock());
  const permit = channel.tryAcquire();
  const errors: unknown[] = [];
  if (permit) noteImpossibleUsage(permit, { onError: (error) => errors.push(error) }, 'req');
  permit?.succeeded();
  expect(channel.lastFailure).toMatchObject({ failure: 'malformed' });
  expect(channel.lastFailure?.message).toContain('impossible usage');
  expect(String(errors[0])).toContain('impossible usage');
  expect([channel.state, channel.health]).toEqual(['healthy', 1]);
});
