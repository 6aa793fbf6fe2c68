/**
 * `error.details` of Anthropic's errors, passed through. The package (@anthropic-ai/sdk 1.11.0) declares
 * the details of each error, and chooses the class of the thrown error by them.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import Anthropic, { type APIError } from '@anthropic-ai/sdk';
import type * as Errors from '@anthropic-ai/sdk/resources/messages';
import type { OrganizationOnHoldErrorDetails } from '@anthropic-ai/sdk/resources/shared';
import { failureOf } from '../support/failure-of.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import { startUpstream } from '../upstreams/upstream.ts';

setDefaultTimeout(60_000);

const MODEL = 'claude-haiku-4-5';
const upstream = startUpstream();
let weir: RunningWeir;
let client: Anthropic;
let direct: Anthropic;
beforeAll(async () => {
  const main = { id: 'main', protocol: 'anthropic', base_url: upstream.url, api_key: 'none' };
  const channels = [{ ...main, models: { [MODEL]: MODEL } }];
  weir = await startWeir({ shared_database: true, config: JSON.stringify({ channels }) });
  client = new Anthropic({ baseURL: weir.base_url, apiKey: weir.api_key, maxRetries: 0 });
  direct = new Anthropic({ baseURL: upstream.url, apiKey: 'none', maxRetries: 0 });
});
afterAll(async () => {
  await weir.stop();
  await upstream.stop();
});

const THREAD: Errors.ThreadUnsupportedRequestErrorDetails = {
  error_code: 'thread_unsupported_request',
  unsupported: ['cache_control'],
};
const CONFLICT: Errors.ToolNameConflictErrorDetails = { error_code: 'tool_name_conflict' };
const REFERENCE: Errors.ToolReferenceUnresolvedErrorDetails = {
  error_code: 'tool_reference_unresolved',
};
const COMPACTION: Errors.CompactionNothingToSummarizeErrorDetails = {
  error_code: 'compaction_nothing_to_summarize',
};

const answer = (details: object) => () =>
  Response.json(
    {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'messages: cannot be used.', details },
      request_id: 'req_of_the_provider',
    },
    { status: 400 },
  );

const REQUEST = {
  ...{ model: MODEL, max_tokens: 10 },
  messages: [{ role: 'user' as const, content: 'Hello' }],
};

describe('the details of', () => {
  test.each([[THREAD], [CONFLICT], [REFERENCE], [COMPACTION]])(
    '%j reach the client, streamed and whole',
    async (details) => {
      upstream.answer = answer(details);
      const native = (await failureOf(direct.messages.create(REQUEST))) as APIError;
      for (const stream of [false, true]) {
        const call = client.messages.create({ ...REQUEST, stream });
        const failure = (await failureOf(call as Promise<unknown>)) as APIError;
        expect(failure.constructor).toBe(native.constructor);
        expect(failure.errorCode).toBe(details.error_code);
        expect(failure.details).toEqual(native.details as never);
        expect(JSON.stringify(failure.error)).not.toContain('req_of_the_provider');
      }
    },
  );

  test('the provider’s own account do not reach the client (P5)', async () => {
    const details: OrganizationOnHoldErrorDetails = {
      error_code: 'organization_on_hold',
      appeal_url: 'https://anthropic.example/appeal',
    };
    upstream.answer = answer(details);
    const failure = (await failureOf(client.messages.create(REQUEST))) as APIError;
    expect(JSON.stringify(failure.error)).not.toMatch(/on_hold|appeal/);
  });
});
