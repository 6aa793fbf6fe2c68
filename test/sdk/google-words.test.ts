/**
 * Answers of one word (Gemini API docs: Structured output, `text/x.enum`), requested by Google's SDK
 * (@google/genai 3.1.0) of every provider's model. Google returns the bare word, without quotes.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type GenerateContentConfig, GoogleGenAI, Type } from '@google/genai';
import { failureOf } from '../support/failure-of.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

let weir: RunningWeir;
let client: GoogleGenAI;
beforeAll(async () => {
  weir = await startWeir({ shared_database: true });
  client = new GoogleGenAI({ apiKey: weir.api_key, httpOptions: { baseUrl: weir.base_url } });
});
afterAll(() => weir.stop());

const WORDS = ['Percussion', 'String "bowed"', 'Woodwind', 'Brass', 'Keyboard'];
const contents = 'What type of instrument is an oboe?';
const responseMimeType = 'text/x.enum';

describe.each(['gpt-4o', 'claude-haiku-4-5', 'gemini-2.5-flash'])('one word of %s', (model) => {
  test.each<[string, GenerateContentConfig]>([
    ['responseSchema', { responseSchema: { type: Type.STRING, enum: WORDS } }],
    ['responseSchema with a format', { responseSchema: { format: 'enum', enum: WORDS } }],
    ['responseJsonSchema', { responseJsonSchema: { type: 'string', enum: WORDS } }],
  ])('with %s, whole and streamed', async (_, schema) => {
    const config = { ...schema, responseMimeType };
    const whole = await client.models.generateContent({ model, contents, config });
    expect(WORDS).toContain(whole.text ?? '');
    let text = '';
    let counted: number | undefined = 0;
    for await (const chunk of await client.models.generateContentStream({
      ...{ model, contents, config },
    })) {
      text += chunk.text ?? '';
      counted = chunk.usageMetadata?.candidatesTokenCount ?? counted;
    }
    expect(text).toBe(whole.text ?? '');
    expect(counted).toBeGreaterThan(0);
  });

  test('is cut off without its JSON', async () => {
    const config = { responseMimeType, responseSchema: { enum: WORDS }, maxOutputTokens: 6 };
    const { text = '' } = await client.models.generateContent({ model, contents, config });
    expect(WORDS.some((word) => word.startsWith(text))).toBe(true);
  });
});

test.each([{}, { responseSchema: { type: Type.STRING } }, { responseSchema: { enum: [] } }])(
  'a list of words is required: %j',
  async (schema) => {
    const config = { ...schema, responseMimeType };
    const failure = await failureOf(
      client.models.generateContent({ model: 'gpt-4o', contents, config }),
    );
    expect(JSON.stringify(failure)).toContain('400');
    expect(String((failure as Error).message)).toContain('generationConfig.responseMimeType');
  },
);
