/** Soft budgets and limits of chat: what the answer says, which model serves the call, and what is recorded. */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { type Gateway, startGateway } from '../../support/gateway.ts';
import { findMoneyFaults } from '../../support/money-faults.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(60_000);

const MESSAGES = [{ role: 'user' as const, content: 'hi' }];
const body = (model: string, more: object = {}) => ({
  ...{ model, max_tokens: 10, messages: MESSAGES, ...more },
});

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ balance_usd: 1_000 });
});
afterAll(() => gateway.stop());

let key = { id: '', key: '' };
beforeEach(async () => {
  key = await gateway.manage('POST', '/api-keys', { name: 'soft' });
});

interface Budget {
  id: string;
  used_amount: number;
  held_amount: number;
  free_amount: number;
  when_reached: unknown;
}
const budget = (when_reached: unknown, limit_amount = 0) =>
  gateway.manage<Budget>('POST', '/budgets', {
    ...{ period: 'day', api_key_id: key.id, limit_amount, when_reached },
  });
const limit = (limits: object[]) =>
  gateway.manage<{ limits: object[] }>('PATCH', `/api-keys/${key.id}`, { limits });
const call = (model = 'gpt-4o', more: object = {}, headers: object = {}) =>
  gateway.post('/v1/chat/completions', body(model, more), {
    headers: { authorization: `Bearer ${key.key}`, ...headers },
  });
const softOf = ({ headers }: Response) => ({
  warning: headers.get('x-weir-warning'),
  from: headers.get('x-weir-moved-from'),
  to: headers.get('x-weir-moved-to'),
});
const NOTHING = { warning: null, from: null, to: null };

/** What the books have of a request. */
async function lineOf(response: Response) {
  const id = response.headers.get('x-request-id')?.replace(/^req_/, '') ?? '';
  const [line] = await gateway.database.sql<{ model: string; detail: object; charged: number }[]>`
    select model, detail, charged_nano_usd as charged from usage_line
    where replace(id::text, '-', '') = ${id}`;
  return line;
}

describe('a budget that warns', () => {
  test('serves calls beyond it, says so in whole answers and streams, and counts what they spend', async () => {
    const made = await budget('warn');
    expect(made.when_reached).toBe('warn');
    const warning = new RegExp(
      `^budget_reached;budget_id="${made.id}";period="day";owner="api_key";frees_in_s=\\d+$`,
    );
    let spent = 0;
    for (const stream of [false, true]) {
      const answer = await call('gpt-4o', { stream });
      expect(answer.status).toBe(200);
      expect(softOf(answer)).toEqual({ ...NOTHING, warning: expect.stringMatching(warning) });
      expect(await answer.text()).toContain('gpt-4o');
      const line = await until('the line is written', () => lineOf(answer));
      expect(line).toMatchObject({
        model: 'gpt-4o',
        detail: { reached: [{ type: 'budget', budget_id: made.id }] },
      });
      spent += Number(line.charged);
    }
    const now = await gateway.manage<Budget>('GET', `/budgets/${made.id}`);
    expect(now.used_amount).toBe(spent / 1e9);
    expect(now.free_amount).toBe(0);
    expect(await findMoneyFaults(gateway.database.sql)).toEqual([]);
  });

  test('says nothing before it is reached, and nothing after it was raised, removed or made hard', async () => {
    const made = await budget('warn', 100);
    expect(softOf(await call())).toEqual(NOTHING);
    await gateway.manage('PATCH', `/budgets/${made.id}`, { limit_amount: 0 });
    expect(softOf(await call()).warning).toContain('budget_reached');
    await gateway.manage('PATCH', `/budgets/${made.id}`, { limit_amount: 100 });
    expect(softOf(await call())).toEqual(NOTHING);
    await gateway.manage('PATCH', `/budgets/${made.id}`, { limit_amount: 0 });
    expect(softOf(await call()).warning).toContain('budget_reached');
    await gateway.manage('PATCH', `/budgets/${made.id}`, { when_reached: 'refuse' });
    expect((await call()).status).toBe(402);
    await gateway.manage('DELETE', `/budgets/${made.id}`);
    expect(softOf(await call())).toEqual(NOTHING);
  });

  test('402: a hard budget or cap refuses a call that a soft one only warns of', async () => {
    await budget('warn');
    await gateway.manage('POST', '/budgets', {
      ...{ period: 'week', api_key_id: key.id, limit_amount: 0 },
    });
    expect((await call()).status).toBe(402);
  });

  test('a repeat with the same Idempotency-Key gets the headers of the first answer', async () => {
    await budget({ move_to: 'gpt-4o-mini' });
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const first = await call('gpt-4o', {}, headers);
    const again = await call('gpt-4o', {}, headers);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(softOf(first).from).toBe('gpt-4o');
    expect(softOf(again)).toEqual(softOf(first));
  });
});

describe('a budget that moves calls', () => {
  test('serves, prices and records them as the named model, whole and as a stream', async () => {
    const made = await budget({ move_to: 'gpt-4o-mini' });
    expect(made.when_reached).toEqual({ move_to: 'gpt-4o-mini' });
    let spent = 0;
    for (const stream of [false, true]) {
      const answer = await call('gpt-4o', { stream });
      expect(softOf(answer)).toEqual({
        warning: expect.stringContaining(`budget_id="${made.id}"`),
        ...{ from: 'gpt-4o', to: 'gpt-4o-mini' },
      });
      expect(await answer.text()).toContain('"model":"gpt-4o-mini"');
      const line = await until('the line is written', () => lineOf(answer));
      expect(line).toMatchObject({ model: 'gpt-4o-mini', detail: { moved_from: 'gpt-4o' } });
      spent += Number(line.charged);
    }
    expect(gateway.upstream.asked.at(-1)?.text).toContain('canary-model-small');
    const { used_amount } = await gateway.manage<Budget>('GET', `/budgets/${made.id}`);
    expect(used_amount).toBe(spent / 1e9);
    const { data } = await gateway.manage<{ data: object[] }>(
      ...['GET', `/requests?api_key_id=${key.id}`],
    );
    expect(data).toMatchObject([
      { logical_model: 'gpt-4o-mini', moved_from: 'gpt-4o', warnings: [{ type: 'budget' }] },
      { logical_model: 'gpt-4o-mini', moved_from: 'gpt-4o', warnings: [{ type: 'budget' }] },
    ]);
    expect(await findMoneyFaults(gateway.database.sql)).toEqual([]);
  });

  test('a cheaper call stays, and so does one that the named model cannot serve', async () => {
    const made = await budget({ move_to: 'gpt-4o-mini' });
    const cheap = await call('gpt-4o-mini');
    expect(softOf(cheap)).toEqual({
      ...NOTHING,
      warning: expect.stringContaining('not_moved="not_cheaper"'),
    });
    const long = await call('gpt-4o', { max_tokens: 16_384 });
    expect(softOf(long).to).toBe('gpt-4o-mini');
    await gateway.manage('PATCH', `/api-keys/${key.id}`, { models: ['gpt-4o'] });
    const alone = await call();
    expect(softOf(alone)).toEqual({
      ...NOTHING,
      warning: expect.stringContaining('not_moved="not_able"'),
    });
    expect(await lineOf(alone)).toMatchObject({
      model: 'gpt-4o',
      detail: { reached: [{ budget_id: made.id, not_moved: 'not_able' }] },
    });
  });

  test('Chat Completions moves to a model of another protocol, if its parameters can be translated', async () => {
    await budget({ move_to: 'claude-haiku-4-5' });
    const moved = await call('gpt-4o');
    expect(softOf(moved).to).toBe('claude-haiku-4-5');
    expect(await moved.json()).toMatchObject({
      object: 'chat.completion',
      model: 'claude-haiku-4-5',
    });
    const stays = await call('gpt-4o', { logit_bias: { 50: 1 } });
    expect(stays.status).toBe(200);
    expect(softOf(stays).warning).toContain('not_moved="not_able"');
  });

  test('402: the caps of the key still refuse the call that moved', async () => {
    await budget({ move_to: 'gpt-4o-mini' });
    await gateway.manage('PATCH', `/api-keys/${key.id}`, { limitAmount: 0 });
    const refused = () => call().then(({ status }) => status !== 503 && status);
    expect(await until('the ledger answers', refused)).toBe(402);
  });

  test('the SDKs of OpenAI and Anthropic, and Responses, read the model and the headers', async () => {
    await budget({ move_to: 'gpt-4o-mini' });
    const openai = new OpenAI({
      ...{ baseURL: `${gateway.base_url}/v1`, apiKey: key.key, maxRetries: 0 },
    });
    const chat = await openai.chat.completions
      .create({ model: 'gpt-4o', messages: MESSAGES })
      .withResponse();
    expect(chat.data.model).toBe('gpt-4o-mini');
    expect(chat.response.headers.get('x-weir-moved-from')).toBe('gpt-4o');
    const responses = await openai.responses
      .create({ model: 'gpt-4o', input: 'hi' })
      .withResponse();
    expect(responses.data.model).toBe('gpt-4o-mini');
    expect(responses.response.headers.get('x-weir-warning')).toContain('budget_reached');
    const anthropic = new Anthropic({
      ...{ baseURL: gateway.base_url, apiKey: key.key, maxRetries: 0 },
    });
    const message = await anthropic.messages
      .create({ model: 'gpt-4o', max_tokens: 10, messages: MESSAGES })
      .withResponse();
    expect(message.data.model).toBe('gpt-4o-mini');
    expect(message.response.headers.get('x-weir-moved-to')).toBe('gpt-4o-mini');
    const events = anthropic.messages.stream({
      ...{ model: 'gpt-4o', max_tokens: 10, messages: MESSAGES },
    });
    expect((await events.finalMessage()).model).toBe('gpt-4o-mini');
  });
});

describe('limits of a key that warn', () => {
  test.each([
    [{ requests_per_minute: 1 }, 'requests_per_minute', 61],
    [{ tokens_per_minute: 1 }, 'tokens_per_minute', null],
  ] as const)('%j', async (one, name, frees_in_s) => {
    const { limits } = await limit([{ model: 'gpt-4o', ...one, when_reached: 'warn' }]);
    expect(limits).toMatchObject([{ when_reached: 'warn' }]);
    if (frees_in_s !== null) expect(softOf(await call())).toEqual(NOTHING);
    for (const stream of [false, true]) {
      const warned = await call('gpt-4o', { stream });
      expect(warned.status).toBe(200);
      const { warning } = softOf(warned);
      expect(warning).toStartWith(`limit_reached;limit="${name}";model="gpt-4o"`);
      const seconds = /frees_in_s=(\d+)/.exec(warning ?? '')?.[1];
      if (frees_in_s === null) expect(seconds).toBeUndefined();
      else expect(Number(seconds)).toBeWithin(1, frees_in_s + 1);
      await warned.text();
    }
    expect(softOf(await call('gpt-4o-mini'))).toEqual(NOTHING);
  });

  test('concurrent_calls', async () => {
    await limit([{ concurrent_calls: 1, when_reached: 'warn' }]);
    const [first, second] = await Promise.all([call(), call('gpt-4o-mini')]);
    const warnings = [first, second].map((each) => softOf(each).warning);
    expect(warnings.filter((each) => each === null)).toHaveLength(1);
    expect(warnings).toContain('limit_reached;limit="concurrent_calls";frees_in_s=1');
    expect(softOf(await call())).toEqual(NOTHING);
  });
});

describe('limits of a key that move calls', () => {
  test.each([{ requests_per_minute: 1 }, { tokens_per_minute: 1_230 }, { concurrent_calls: 1 }])(
    '%j',
    async (one) => {
      await limit([{ model: 'gpt-4o', ...one, when_reached: { move_to: 'gpt-4o-mini' } }]);
      // The first one uses 1,224 tokens.
      const first = await call();
      const answers = [first, ...(await Promise.all([call(), call()]))];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      const served = await Promise.all(
        answers.map(async (each) => ((await each.json()) as { model: string }).model),
      );
      expect(served.filter((model) => model === 'gpt-4o-mini').length).toBeGreaterThanOrEqual(1);
      expect(served).toContain('gpt-4o');
      for (const [at, model] of served.entries()) {
        expect(softOf(answers[at] as Response).to).toBe(model === 'gpt-4o' ? null : model);
      }
    },
  );

  test('a call that moved takes nothing of the limit that moved it, and moves once', async () => {
    await limit([
      { model: 'gpt-4o', requests_per_minute: 1, when_reached: { move_to: 'gpt-4o-mini' } },
      { model: 'gpt-4o-mini', requests_per_minute: 2, when_reached: 'refuse' },
      { requests_per_minute: 1, when_reached: { move_to: 'claude-haiku-4-5' } },
    ]);
    expect(softOf(await call())).toEqual(NOTHING);
    const moved = await call();
    expect(softOf(moved)).toMatchObject({ from: 'gpt-4o', to: 'gpt-4o-mini' });
    // The limit for all models moves calls too, but this one has moved.
    expect(softOf(moved).warning?.split(', ')).toEqual([
      expect.stringContaining('model="gpt-4o"'),
      expect.stringMatching(/^limit_reached;limit="requests_per_minute";frees_in_s=\d+$/),
    ]);
    expect((await call()).status).toBe(200);
    // The hard limit of the model to which the call moves refuses it.
    const refused = await call();
    expect(refused.status).toBe(429);
    expect(softOf(refused)).toMatchObject({ from: 'gpt-4o', to: 'gpt-4o-mini' });
  });
});

test('a call moves away from a hard limit that does not apply to the other model', async () => {
  await limit([
    { model: 'gpt-4o', requests_per_minute: 1 },
    { requests_per_minute: 1, when_reached: { move_to: 'gpt-4o-mini' } },
  ]);
  expect(softOf(await call())).toEqual(NOTHING);
  const moved = await call();
  expect(moved.status).toBe(200);
  expect(softOf(moved).to).toBe('gpt-4o-mini');
});

describe('400: what a choice may be', () => {
  test.each([
    [{ when_reached: 'later' }, 'limits.0.when_reached'],
    [{ when_reached: { move_to: 'no-such-model' } }, 'limits.0.when_reached.move_to'],
    [{ when_reached: { move_to: 'dall-e-3' } }, 'limits.0.when_reached.move_to'],
    [{ when_reached: { move_to: 'gpt-4o' } }, 'limits.0.when_reached.move_to'],
    [{ when_reached: { move_to: 'o4-mini' } }, 'limits.0.when_reached.move_to'],
    [
      { model: 'gpt-4o-mini', when_reached: { move_to: 'claude-haiku-4-5' } },
      'limits.0.when_reached.move_to',
    ],
  ])('of a limit: %j', async (one, param) => {
    const limits = [{ model: 'gpt-4o', requests_per_minute: 1, ...one }];
    await expect(limit(limits)).rejects.toThrow(`"param":"${param}"`);
  });

  test('of a key that may not call the named model', async () => {
    await gateway.manage('PATCH', `/api-keys/${key.id}`, { models: ['gpt-4o'] });
    const when_reached = { move_to: 'gpt-4o-mini' };
    await expect(limit([{ requests_per_minute: 1, when_reached }])).rejects.toThrow(
      '"param":"limits.0.when_reached.move_to"',
    );
  });

  test.each([
    [{ move_to: 'no-such-model' }, 'when_reached.move_to'],
    [{ move_to: 'o4-mini' }, 'when_reached.move_to'],
    ['never', 'when_reached'],
    [{ move: 'gpt-4o' }, 'when_reached.move_to'],
  ])('of a budget: %j', async (choice, param) => {
    await expect(budget(choice)).rejects.toThrow(`"param":"${param}"`);
  });

  test('a change of a budget needs a member', async () => {
    const { id } = await budget('warn');
    await expect(gateway.manage('PATCH', `/budgets/${id}`, {})).rejects.toThrow('"param":"body"');
  });
});
