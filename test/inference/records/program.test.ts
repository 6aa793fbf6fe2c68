/** The program of a client, from the `User-Agent` headers that real programs send. */
import { expect, test } from 'bun:test';
import { programOf } from '../../../src/inference/records/program.ts';

// RFC 9110, section 10.1.5, has the grammar and the first two examples' form: products and comments.
test.each([
  ['CERN-LineMode/2.15 libwww/2.17b3', 'CERN-LineMode/2.15 libwww/2.17b3'],
  ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)', 'Mozilla/5.0'],
  ['OpenAI/JS 7.55.0', 'OpenAI/JS 7.55.0'],
  ['curl/8.5.0', 'curl/8.5.0'],
  ['(only a comment)', '(only a comment)'],
  ['tool(1)/2', 'tool(1)/2'],
  ['', ''],
  [null, ''],
])('%p is %p', (user_agent, program) => {
  expect(programOf(user_agent)).toBe(program);
});

test('is at most 60 visible characters of ASCII', () => {
  expect(programOf('x'.repeat(1_000))).toBe('x'.repeat(60));
  expect(programOf('Grüße\t1 \u{1f600}')).toBe('Gr??e?1 ??');
  expect(programOf(`${'x'.repeat(59)}\u{1f600}`)).toBe(`${'x'.repeat(59)}?`);
});
