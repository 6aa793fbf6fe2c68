/** Whether a client's text can be stored is judged by PostgreSQL. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { storable } from '../../../src/inference/records/storable.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Stores a text as JSON, as the detail of a record is stored, and returns what is stored. */
async function stored(text: string): Promise<string> {
  const { sql } = database;
  const [row] = await sql<{ text: string }[]>`
    select ${sql.json({ text })}::jsonb ->> 'text' as text`;
  return row?.text ?? '';
}

test('PostgreSQL refuses NUL and lone surrogates, and stores them after the replacement', async () => {
  for (const bad of ['\u0000', '\ud83d', '\ude00', '\ude00\ud83d', 'a\u0000b\ud83d']) {
    expect(await stored(bad).catch(({ code }: { code: string }) => code)).toMatch(/^22P0[25]$/);
    const good = storable(bad, 100);
    expect(good).toHaveLength(bad.length);
    expect(await stored(good)).toBe(good);
  }
});

test('other text is unchanged', async () => {
  for (const text of ['', 'plain', 'Grüße 😀', '\u0001\t\r\n\u007f', '\ufffd\uffff', `'"\\u0000`]) {
    expect(storable(text, 100)).toBe(text);
    expect(await stored(text)).toBe(text);
  }
});

test('a text is cut, and a character that the cut divides can still be stored', async () => {
  expect(storable('abcdef', 3)).toBe('abc');
  const cut = storable('ab😀', 3);
  expect(cut).toBe('ab\ufffd');
  expect(await stored(cut)).toBe(cut);
});
