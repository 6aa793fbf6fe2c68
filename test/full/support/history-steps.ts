/** The steps of a random history: what clients do, and what they saw. */

import type { Witness } from '../../support/books/pairing.ts';
import { fc } from '../../support/property.ts';
import type { HistoryWorld } from './history-world.ts';

/** One request of a client. */
export interface HistoryCall extends Witness {
  request_id?: string | undefined;
  /** HTTP status; undefined without an answer. */
  status?: number | undefined;
  outcome: Witness['outcome'];
  readonly model: string;
  readonly key_id: string;
  /** The replica that got it, and its times in ms of `performance.now()`. */
  readonly at: number;
  readonly began_ms: number;
  ended_ms: number;
  /** True if its client left in the middle of the answer. */
  left?: boolean;
}

const MODELS = {
  chat: 'gpt-4o-mini',
  messages: 'claude-haiku-4-5',
  embedding: 'text-embedding-3-small',
};
const PATHS = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  embedding: '/v1/embeddings',
};
type Protocol = keyof typeof MODELS;
/** The channel that is tried first. */
const FIRST = { chat: 'openai', messages: 'anthropic', embedding: 'openai' };
const ENDS = { chat: 'data: [DONE]\n\n', messages: '"message_stop"}\n\n', embedding: '' };
const SCENES = {
  ...{ midjourney: 'images', 'kling-3.0': 'videos', 'runway-gen4.5': 'videos' },
  'grok-imagine-video': 'videos',
};
type Order = Pick<StepOf<'task'>, 'at' | 'key' | 'task_ms' | 'end'> & {
  model: keyof typeof SCENES;
};
/** A client that leaves reads so many pieces of the answer. The first one may have no text. */
const PIECES = 4;
const PIECE = /"delta":/g;

const by = { at: fc.nat(1), key: fc.nat(1) };
const tokens = fc.integer({ min: 1, max: 60 });
const chat = fc.constantFrom<Protocol>('chat', 'messages');
const STEPS = {
  call: fc.record({
    ...{ type: fc.constant('call' as const), ...by, tokens, stream: fc.boolean() },
    protocol: fc.constantFrom<Protocol>('chat', 'messages', 'embedding'),
    cached: fc.constantFrom(0, 5),
  }),
  moved: fc.record({
    ...{ type: fc.constant('moved' as const), ...by, tokens, stream: fc.boolean(), protocol: chat },
    fault: fc.constantFrom('status=500', 'status=429', 'lose=1', 'malformed=1'),
  }),
  aborted: fc.record({ type: fc.constant('aborted' as const), ...by, protocol: chat }),
  refused: fc.record({
    ...{ type: fc.constant('refused' as const), ...by },
    how: fc.constantFrom('model', 'body', 'provider'),
  }),
  repeated: fc.record({
    ...{ type: fc.constant('repeated' as const), ...by, tokens, stream: fc.boolean() },
  }),
  batch: fc.record({
    ...{ type: fc.constant('batch' as const), ...by },
    items: fc.array(tokens, { minLength: 1, maxLength: 3 }),
  }),
  task: fc.record({
    ...{ type: fc.constant('task' as const), ...by, task_ms: fc.integer({ min: 10, max: 2_500 }) },
    model: fc.constantFrom('midjourney' as const, 'kling-3.0' as const, 'runway-gen4.5' as const),
    end: fc.constantFrom('completes', 'fails', 'is canceled', 'loses its answer'),
  }),
  limit: fc.record({
    ...{ type: fc.constant('limit' as const), ...by },
    room_usd: fc.constantFrom(0.000_05, 0.03, 50),
  }),
};
type Step = (typeof STEPS)[keyof typeof STEPS] extends fc.Arbitrary<infer Value> ? Value : never;
type StepOf<Type extends Step['type']> = Extract<Step, { type: Type }>;

const any = fc.oneof(...Object.values(STEPS)) as fc.Arbitrary<Step>;

/** A random history: steps at the same time as a kill, and steps after the restart. */
export const history = fc.record({
  seed: fc.nat(1_000_000),
  before: fc
    .tuple(
      ...(Object.values(STEPS) as fc.Arbitrary<Step>[]),
      fc.array(any, { minLength: 8, maxLength: 24 }),
    )
    .map((drawn) => drawn.flat() as Step[])
    .chain((steps) => fc.shuffledSubarray(steps, { minLength: steps.length })),
  victim: fc.nat(1),
  kill_after_ms: fc.integer({ min: 50, max: 1_200 }),
  /** A task that ends after the restart. */
  late: fc.record({ at: fc.nat(1), task_ms: fc.integer({ min: 6_000, max: 9_000 }) }),
  after: fc.array(any, { minLength: 4, maxLength: 16 }),
});
/** A random history. */
export type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

export class HistoryClients {
  readonly calls: HistoryCall[] = [];
  /** Batches that were accepted, with the replica that accepted them. */
  readonly batches: { id: string; key: number }[] = [];
  /** The request ids of tasks that were accepted, by the id of the task. */
  readonly tasks = new Map<string, { request_id: string; key_id: string }>();
  /** Repeats that got the kept answer. */
  readonly repeats: HistoryCall[] = [];

  constructor(private readonly world: HistoryWorld) {}

  /** Takes the steps with some clients at a time. */
  async takeAll(steps: readonly Step[], clients = 5): Promise<void> {
    const waiting = [...steps];
    const run = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) await this.take(next);
    };
    await Promise.all(Array.from({ length: clients }, run));
  }

  /** Creates a task, and returns its id; undefined if it was refused or its answer was lost. */
  async createTask(step: Order): Promise<string | undefined> {
    const { key, model, end } = step;
    // Runway can neither find nor repeat a job, so its task would wait for a late report.
    const lost = model === 'runway-gen4.5' ? '' : ' lose=1';
    const more: Record<string, string> = { fails: ' fail=upstream', 'loses its answer': lost };
    const prompt = `A lighthouse [[sim task_ms=${step.task_ms}${more[end] ?? ''}]]`;
    const response = await this.post(`/v1/${SCENES[model]}/generations`, step, { model, prompt });
    const text = await response?.text().catch(() => '');
    if (!response?.ok || !text) return undefined;
    const { id } = JSON.parse(text) as { id: string };
    const { id: key_id } = this.keyOf(key);
    this.tasks.set(id, { request_id: requestIdOf(response) ?? '', key_id });
    // A task that has ended cannot be canceled, and a killed replica cancels nothing.
    const cancel = () => this.world.manage(`/tasks/${id}/cancel`, 'POST').catch(() => undefined);
    if (end === 'is canceled') await cancel();
    return id;
  }

  private async take(step: Step): Promise<void> {
    switch (step.type) {
      case 'call':
        await this.call(step, `[[sim tokens=${step.tokens} cached=${step.cached} chunk_ms=10]]`);
        return;
      case 'moved': {
        const fault = `[[sim channel=${FIRST[step.protocol]} ${step.fault}]]`;
        await this.call(step, `[[sim tokens=${step.tokens} chunk_ms=10]] ${fault}`);
        return;
      }
      case 'aborted':
        await this.call({ ...step, stream: true }, '[[sim tokens=80 chunk_ms=15]]', {
          leaves: true,
        });
        return;
      case 'refused':
        return this.refuse(step);
      case 'repeated':
        return this.repeat(step);
      case 'batch':
        return this.createBatch(step);
      case 'task':
        await this.createTask(step);
        return;
      case 'limit':
        return this.changeLimit(step);
      default:
        return step satisfies never;
    }
  }

  private async call(
    step: { at: number; key: number; protocol: Protocol; stream: boolean },
    directives: string,
    more: { leaves?: boolean; headers?: Record<string, string>; as?: HistoryCall } = {},
  ): Promise<{ call: HistoryCall; text: string; response?: Response | undefined }> {
    const { protocol, stream } = step;
    const reference = more.as?.reference ?? `step-${this.calls.length}`;
    const call: HistoryCall = {
      ...{
        reference,
        outcome: 'running',
        model: MODELS[protocol],
        key_id: this.keyOf(step.key).id,
      },
      ...{ at: step.at, began_ms: performance.now(), ended_ms: Number.POSITIVE_INFINITY },
    };
    if (!more.as) this.calls.push(call);
    const leaving = new AbortController();
    let text = '';
    const body = bodyOf(protocol, stream, reference, `Count. ${directives}`);
    const response = await this.post(PATHS[protocol], step, body, more.headers, leaving.signal);
    call.request_id = response && requestIdOf(response);
    call.status = response?.status;
    try {
      const decoder = new TextDecoder();
      for await (const chunk of response?.body ?? []) {
        text += decoder.decode(chunk, { stream: true });
        if (!more.leaves || (text.match(PIECE)?.length ?? 0) < PIECES) continue;
        call.left = true;
        leaving.abort();
      }
    } catch {
      // The connection broke, or this client left.
    }
    call.ended_ms = performance.now();
    const isWhole =
      stream && protocol !== 'embedding' ? text.endsWith(ENDS[protocol]) : isJson(text);
    if (response && !response.ok) call.outcome = 'refused';
    else if (!response || call.left) call.outcome = 'broken';
    else call.outcome = isWhole ? 'whole' : 'broken';
    return { call, text, response };
  }

  /** Repeats a call with its key on the other replica. */
  private async repeat(step: StepOf<'repeated'>): Promise<void> {
    const headers = { 'idempotency-key': `key-${this.calls.length}` };
    const of = { ...step, protocol: 'chat' as const };
    const directives = `[[sim tokens=${step.tokens} chunk_ms=5]]`;
    const first = await this.call(of, directives, { headers });
    if (first.call.outcome !== 'whole') return;
    const again = await this.call({ ...of, at: 1 - step.at }, directives, {
      headers,
      as: first.call,
    });
    if (again.call.outcome !== 'whole') return;
    if (again.text !== first.text) throw new Error(`a repeat got another answer: ${again.text}`);
    this.repeats.push(again.call);
  }

  private async refuse({ how, ...step }: StepOf<'refused'>): Promise<void> {
    const messages = [{ role: 'user', content: 'Hello [[sim status=400]]' }];
    const body = {
      model: { model: 'gpt-4o-mni', messages },
      body: { model: MODELS.chat, messages: 7 },
      provider: { model: MODELS.chat, messages },
    }[how];
    const response = await this.post(PATHS.chat, step, body ?? {});
    await response?.text().catch(() => '');
    if (response?.ok) throw new Error(`accepted: ${how}`);
  }

  private async createBatch(step: StepOf<'batch'>): Promise<void> {
    const requests = step.items.map((length) => {
      const custom_id = `batch-${crypto.randomUUID()}`;
      const content = `Count. [[sim tokens=${length}]]`;
      return { custom_id, params: bodyOf('messages', false, custom_id, content) };
    });
    const response = await this.post('/v1/messages/batches', step, { requests });
    const text = await response?.text().catch(() => '');
    if (!response?.ok || !text) return;
    this.batches.push({ id: (JSON.parse(text) as { id: string }).id, key: step.key });
  }

  /** Sets the limit of a key to what it has used and a little more. */
  private async changeLimit({ key, room_usd }: StepOf<'limit'>): Promise<void> {
    const path = `/api-keys/${this.keyOf(key).id}`;
    // The replica that serves the management interface may be the one that is killed.
    await this.world
      .manage<{ used_amount: number }>(path)
      .then(({ used_amount }) =>
        this.world.manage(path, 'PATCH', { limitAmount: used_amount + room_usd }),
      )
      .catch(() => undefined);
  }

  private keyOf(key: number) {
    const found = this.world.keys[key];
    if (!found) throw new Error(`there is no key ${key}`);
    return found;
  }

  /** Returns the response; undefined if the connection broke before. */
  private post(
    path: string,
    { at, key }: { at: number; key: number },
    body: object,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ): Promise<Response | undefined> {
    return fetch(this.world.replica(at).base_url + path, {
      ...{ method: 'POST', body: JSON.stringify(body), ...(signal ? { signal } : {}) },
      headers: {
        ...{ authorization: `Bearer ${this.keyOf(key).key}`, 'content-type': 'application/json' },
        ...{ 'anthropic-version': '2023-06-01', ...headers },
      },
    }).catch(() => undefined);
  }
}

function bodyOf(protocol: Protocol, stream: boolean, reference: string, content: string): object {
  const model = MODELS[protocol];
  if (protocol === 'embedding') return { model, input: content, user: reference };
  const messages = [{ role: 'user', content }];
  if (protocol === 'chat') return { model, stream, messages, user: reference };
  return { model, stream, messages, max_tokens: 200, metadata: { user_id: reference } };
}

/** Returns the request id of a response without `req_`. */
function requestIdOf({ headers }: Response): string | undefined {
  return headers.get('x-request-id')?.replace('req_', '');
}

function isJson(text: string): boolean {
  try {
    return JSON.parse(text) !== null;
  } catch {
    return false;
  }
}
