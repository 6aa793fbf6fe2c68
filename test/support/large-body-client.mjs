/**
 * Calls Weir eight times at once with the OpenAI SDK and a large body. Prints the statuses, or
 * the message of an error without a status. Usage: `node large-body-client.mjs MEGABYTES [chunks]`, with
 * OPENAI_BASE_URL and OPENAI_API_KEY.
 */
import OpenAI from 'openai';

const content = 'x'.repeat(Number(process.argv[2]) * 1024 * 1024);
/** A stream has no length, so Node sends it in chunks. */
const inChunks = (url, { body, ...options }) =>
  fetch(url, { ...options, body: new Blob([body]).stream(), duplex: 'half' });
const more = process.argv[3] === 'chunks' ? { fetch: inChunks } : {};
const client = new OpenAI({ maxRetries: 0, ...more });
const body = { model: 'gpt-4o', messages: [{ role: 'user', content }] };
const calls = Array.from({ length: 8 }, () =>
  client.chat.completions.create(body).then(
    () => 200,
    (error) => error.status ?? String(error.cause ?? error),
  ),
);
console.log(JSON.stringify(await Promise.all(calls)));
