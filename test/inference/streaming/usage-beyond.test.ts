import { expect, test } from 'bun:test';
import { usageBeyond } from '../../../src/inference/streaming/usage-beyond.ts';

const WHOLE = {
  ...{ input_tokens: 10, cached_input_tokens: 4, cache_write_tokens: 2, output_tokens: 30 },
  ...{ reasoning_tokens: 5, audio_input_tokens: 3, web_searches: 2 },
};

test('the part that was paid and the rest have each token once, however the input was divided', () => {
  const paid = {
    ...{ input_tokens: 15, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 12 },
    web_searches: 1,
  };
  expect(usageBeyond(WHOLE, paid)).toEqual({
    ...{ input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 1, output_tokens: 18 },
    ...{ reasoning_tokens: 5, audio_input_tokens: 0, web_searches: 1 },
  });
});

test('nothing is left if all was paid, and no count is below zero', () => {
  const paid = { ...WHOLE, input_tokens: 100, output_tokens: 31 };
  expect(usageBeyond(WHOLE, paid)).toMatchObject({
    ...{ input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0 },
    ...{ audio_input_tokens: 0, web_searches: 0 },
  });
});
