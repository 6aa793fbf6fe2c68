/**
 * Fills an installation with what pages show: keys, budgets, calls of every outcome, tasks, a batch, people, own
 * keys and alerts.
 */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { DashboardWorld } from '../../../support/dashboard.ts';
import { until } from '../../../support/until.ts';
import type { Outside } from './outside.ts';

/** The ids of what was made, for the pages that show one thing. */
export interface Sample {
  readonly key_id: string;
  readonly request_id: string;
  readonly task_id: string;
  readonly batch_id: string;
  /** The month of the statement, e.g. `2026-11`. */
  readonly month: string;
}

const MODELS = ['gpt-4o-mini', 'gpt-4o', 'claude-haiku-4-5', 'gemini-2.5-flash', 'gpt-4.1-nano'];
/** The longest name that a key may reasonably have, and one that is written from the right. */
const NAMES = ['shop', 'W'.repeat(50), 'متجر الأزهار', 'nightly reports'];

/** Makes the sample through the public interface. `weir` was started with the settings of `outside`. */
export async function fillSample({ weir }: DashboardWorld, outside: Outside): Promise<Sample> {
  const manage = async <Answer>(method: string, path: string, body: object): Promise<Answer> => {
    const answer = await fetch(`${weir.base_url}/v1/management/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${weir.management_token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Answer;
  };
  const keys: { id: string; key: string }[] = [];
  for (const [index, name] of NAMES.entries()) {
    const limit = index === 3 ? {} : { limitAmount: 5 * (index + 1) };
    keys.push(await manage('POST', 'api-keys', { name, tags: ['sample'], ...limit }));
  }
  const [first = { id: '', key: '' }] = keys;
  const requests: string[] = [];
  for (const [index, model] of [...MODELS, ...MODELS].entries()) {
    const { key } = keys[index % keys.length] ?? first;
    const client = new OpenAI({ baseURL: `${weir.base_url}/v1`, apiKey: key, maxRetries: 0 });
    const content = `Write a line about rivers. [[sim tokens=${20 + index * 7}]]`;
    const messages = [{ role: 'user' as const, content }];
    const answer = await client.chat.completions.create({ model, messages }).withResponse();
    requests.push(answer.response.headers.get('x-request-id') ?? '');
  }
  const client = new OpenAI({ baseURL: `${weir.base_url}/v1`, apiKey: first.key, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'Hello' }];
  // The second call gets the answer of the first one, if the cache is on.
  for (const model of [...MODELS.slice(0, 2), ...MODELS.slice(0, 2)]) {
    await client.chat.completions.create({ model, messages });
  }
  await client.chat.completions.create({ model: 'no-such-model', messages }).catch(() => undefined);
  const task = await fetch(`${weir.base_url}/v1/videos/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${first.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'veo-3.1', prompt: 'A weir in spring [[sim task_ms=300]]' }),
  });
  const { id: task_id } = (await task.json()) as { id: string };
  const anthropic = new Anthropic({ baseURL: weir.base_url, apiKey: first.key, maxRetries: 0 });
  const batch = await anthropic.messages.batches.create({
    requests: ['one', 'two', 'three'].map((custom_id) => ({
      custom_id,
      params: { model: 'claude-haiku-4-5', max_tokens: 50, messages },
    })),
  });
  await until('the batch ended', async () => {
    const { processing_status } = await anthropic.messages.batches.retrieve(batch.id);
    return processing_status === 'ended';
  });
  await manage('PATCH', `api-keys/${first.id}`, {
    limits: [{ concurrent_calls: 20 }, { model: 'gpt-4o', requests_per_minute: 60 }],
  });
  await manage('POST', 'budgets', { period: 'month', limit_amount: 500 });
  for (const [period, limit_amount] of [
    ['day', 5],
    ['week', 20],
  ]) {
    await manage('POST', 'budgets', { api_key_id: first.id, period, limit_amount });
  }
  await manage('POST', 'budgets', {
    ...{ tag: { team: 'blue' }, period: 'week', limit_amount: 50 },
    when_reached: { move_to: 'gpt-4o-mini' },
  });
  await manage('POST', 'upstream-keys', {
    ...{ protocol: 'openai', base_url: outside.provider_url, api_key: 'sk-sample' },
    ...{ name: 'Our account', models: { 'text-embedding-3-small': 'text-embedding-3-small' } },
  });
  await fillAlerts(manage, outside);
  await manage('POST', 'tokens', { name: 'finance', scopes: ['billing'] });
  await manage('POST', 'invitations', { email: 'grace@example.com', role: 'member' });
  return {
    key_id: first.id,
    request_id: requests[0] ?? '',
    task_id,
    batch_id: batch.id,
    month: new Date().toISOString().slice(0, 7),
  };
}

type Manage = <Answer>(method: string, path: string, body: object) => Promise<Answer>;

/** Makes an endpoint, and an alert that it received. */
async function fillAlerts(manage: Manage, { hook_url, received }: Outside): Promise<void> {
  const kinds = ['low_balance', 'cap_used', 'unusual_spend'];
  const body = { name: 'On call', type: 'webhook', url: hook_url, kinds };
  await manage('POST', 'alert-endpoints', body);
  await manage('PATCH', 'alert-settings', { low_balance_usd: 500 });
  await until('an alert was received', () => received.length > 0);
}

/** Returns the path of every page, with the ids of a sample in it. */
export function pathsOf(pages: readonly string[], sample: Sample): string[] {
  const ids: Record<string, string> = {
    '/models/:model': 'gpt-4o',
    '/tasks/:id': sample.task_id,
    '/batches/:id': sample.batch_id,
    '/keys/:id': sample.key_id,
    '/usage/requests/:id': sample.request_id,
    '/billing/:month': sample.month,
    '/actors/request/:id': sample.request_id,
    '/actors/:kind/:id': sample.task_id,
    '/machines/:machine': 'task',
    '/docs/:page': 'architecture',
    '/docs/reference/:page': 'management',
    '/docs/decisions/:page': 'dashboard',
    '/go/:id': sample.request_id,
  };
  return pages
    .filter((page) => page !== '/v1/auth/links/:link')
    .map((page) => page.replace(/:\w+$/, ids[page] ?? 'none').replace(':kind', 'task'));
}
