import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { Webhook } from 'standardwebhooks';
import { freePort } from '../support/ports.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import { withoutSignatures } from '../support/without-signatures.ts';

setDefaultTimeout(60_000);

interface ReceivedWebhook {
  headers: Record<string, string>;
  body: string;
}

const folder = throwawayFolder('webhooks');
const received: ReceivedWebhook[] = [];
/** The receiver's next responses. The last one repeats. */
let answers = [200];
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    received.push({ headers: Object.fromEntries(request.headers), body: await request.text() });
    const status = answers.length > 1 ? answers.shift() : answers[0];
    return new Response(null, { status: status ?? 200 });
  },
});
const webhook_url = `http://127.0.0.1:${receiver.port}/hook`;

let weir: RunningWeir;
let port: number;
const start = () =>
  startWeir({
    port,
    data: folder,
    env: { WEIR_WEBHOOK_ALLOW_HOSTS: `127.0.0.1:${receiver.port}` },
  });

beforeAll(async () => {
  port = await freePort();
  weir = await start();
});
afterAll(async () => {
  await weir.stop();
  await receiver.stop(true);
  removeFolder(folder);
});

async function send<Answer>(path: string, token: string, body?: object, method = 'POST') {
  const response = await fetch(weir.base_url + path, {
    method: body || method !== 'POST' ? method : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, answer: (await response.json()) as Answer };
}

const create = (url = webhook_url, prompt = 'A lighthouse [[sim task_ms=100]]') =>
  send<{ id: string; error?: { param: string } }>('/v1/images/generations', weir.api_key, {
    model: 'midjourney',
    prompt,
    webhook_url: url,
  });

interface Deliveries {
  data: { task_id: string; status: string; attempts: number; last_status: number | null }[];
}

const deliveryOf = async (task_id: string) => {
  const path = '/v1/management/webhook-deliveries';
  const { answer } = await send<Deliveries>(path, weir.management_token, undefined, 'GET');
  return answer.data.find((delivery) => delivery.task_id === task_id);
};
const waitForDelivery = (task_id: string, status: string) =>
  until(`the webhook is ${status}`, async () => (await deliveryOf(task_id))?.status === status);

const secret = async () => {
  const path = '/v1/management/webhook-secret';
  return (await send<{ secret: string }>(path, weir.management_token, undefined, 'GET')).answer
    .secret;
};

describe('a webhook', () => {
  test('reports the end of a task, signed, after polling shows it', async () => {
    received.length = 0;
    const { answer } = await create();
    await waitForDelivery(answer.id, 'delivered');
    expect(received).toHaveLength(1);
    const [{ headers, body } = { headers: {}, body: '' }] = received;
    const payload = new Webhook(await secret()).verify(body, headers) as Record<string, unknown>;
    expect(payload).toMatchObject({
      type: 'task.completed',
      data: { id: answer.id, status: 'completed', data: [{}] },
    });
    expect(withoutSignatures(body)).not.toMatch(/midjourney-proxy|127\.0\.0\.1|sim-/);
    expect(() =>
      new Webhook(`whsec_${btoa('another secret of 24 b')}`).verify(body, headers),
    ).toThrow();
  });

  test('reports a failed task too', async () => {
    received.length = 0;
    const { answer } = await create(webhook_url, 'A [[sim task_ms=100 fail=moderation]]');
    await waitForDelivery(answer.id, 'delivered');
    expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({
      type: 'task.failed',
      data: { status: 'failed' },
    });
  });

  test('P3: is sent again after a refusal, also by a new process, with the same id', async () => {
    received.length = 0;
    answers = [500, 200];
    const { answer } = await create();
    await until('the first attempt', () => received.length === 1);
    await until('it is noted', async () => (await deliveryOf(answer.id))?.attempts === 1);
    weir.kill('SIGKILL');
    await weir.exited;
    weir = await start();
    await waitForDelivery(answer.id, 'delivered');
    expect(received).toHaveLength(2);
    expect(received[1]?.headers['webhook-id']).toBe(received[0]?.headers['webhook-id'] as string);
    expect(await deliveryOf(answer.id)).toMatchObject({ attempts: 2, last_status: 200 });
  });

  test('goes only to public addresses, and stops after a 410', async () => {
    const inside = await create('http://127.0.0.1:1/hook');
    if (inside.status === 200) await waitForDelivery(inside.answer.id, 'failed');
    else expect(inside.answer.error?.param).toBe('webhook_url');
    answers = [410];
    const { answer } = await create();
    await waitForDelivery(answer.id, 'failed');
    expect(await deliveryOf(answer.id)).toMatchObject({ attempts: 1, last_status: 410 });
    answers = [200];
  });

  test('is signed with the new secret after a rotation', async () => {
    const before = await secret();
    const path = '/v1/management/webhook-secret/rotate';
    const rotated = await send<{ secret: string }>(path, weir.management_token);
    expect(rotated.answer.secret).toMatch(/^whsec_/);
    expect(rotated.answer.secret).not.toBe(before);
    expect(await secret()).toBe(rotated.answer.secret);
    received.length = 0;
    const { answer } = await create();
    await waitForDelivery(answer.id, 'delivered');
    const [{ headers, body } = { headers: {}, body: '' }] = received;
    expect(() => new Webhook(before).verify(body, headers)).toThrow();
    expect(new Webhook(rotated.answer.secret).verify(body, headers)).toBeTruthy();
  });

  test('401 without a management token, 400 for an invalid page', async () => {
    const path = '/v1/management/webhook-deliveries';
    expect((await send(path, weir.api_key, undefined, 'GET')).status).toBe(401);
    const wrong = await send<{ error: { param: string } }>(
      `${path}?limit=1000`,
      weir.management_token,
      undefined,
      'GET',
    );
    expect(wrong).toMatchObject({ status: 400, answer: { error: { param: 'limit' } } });
  });
});
