/**
 * Random sequences of changes of keys, compared with a model after each step: the list, and what each
 * secret that was ever shown may do now.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { ManagedKeys } from '../../support/managed-keys.ts';
import { fc } from '../../support/property.ts';

setDefaultTimeout(120_000);

let app: TestApp;
let later_ms = 0;
const now = () => Date.now() + later_ms;
const keys = new ManagedKeys(() => app);
beforeAll(async () => {
  app = await startTestApp({ now });
});
afterAll(() => app.stop());

type Status = 'active' | 'inactive' | 'suspended' | 'revoked';
interface Settings {
  name: string;
  tags: string[];
  external_id: string | null;
}
interface Model extends Settings {
  id: string;
  status: Status;
  isDeleted: boolean;
  etag: string;
  secret: string;
  /** The secret before the last rotation, and when it ends. */
  previous?: { secret: string; ends_ms: number };
  /** Secrets that nothing knows any more. */
  forgotten: string[];
}
type Step =
  | { do: 'create'; settings: Partial<Settings> }
  | { do: 'patch'; at: number; changes: Partial<Settings & { status: Status }>; isStale: boolean }
  | { do: 'rotate'; at: number; grace_s: number }
  | { do: 'delete'; at: number }
  | { do: 'wait'; seconds: number };

const settings = fc.record(
  {
    name: fc.constantFrom('a', 'b', 'c'),
    tags: fc.uniqueArray(fc.constantFrom('x', 'y', 'z')),
    external_id: fc.constantFrom(null, 'e1', 'e2'),
  },
  { requiredKeys: [] },
);
const status = fc.constantFrom<Status>('active', 'inactive', 'suspended', 'revoked');
const changes = fc
  .tuple(settings, fc.option(status, { nil: undefined }))
  .map(([some, next]) => ({ ...some, ...(next ? { status: next } : {}) }))
  .filter((some) => Object.keys(some).length > 0);
const at = fc.nat({ max: 20 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('create' as const), settings }) },
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ do: fc.constant('patch' as const), at, changes, isStale: fc.boolean() },
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ do: fc.constant('rotate' as const), at, grace_s: fc.constantFrom(0, 100, 1_000) },
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), at }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(50, 500) }),
  },
);

let token = '';
async function send(method: string, path: string, body?: object, etag?: string) {
  const response = await fetch(`${app.base_url}/v1/management/api-keys${path}`, {
    method,
    headers: {
      ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(etag === undefined ? {} : { 'if-match': etag }),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const answer = (await response.json()) as { id: string; key: string };
  return { status: response.status, answer, etag: response.headers.get('etag') ?? '' };
}

const live = (models: Model[]) => models.filter(({ isDeleted }) => !isDeleted);
const isTaken = (models: Model[], external_id: string | null | undefined, except?: Model) =>
  external_id != null && live(models).some((m) => m !== except && m.external_id === external_id);

/** Takes a step in Weir and in the model. The statuses must agree. */
async function take(models: Model[], todo: Step): Promise<void> {
  if (todo.do === 'wait') {
    later_ms += todo.seconds * 1_000;
    return;
  }
  if (todo.do === 'create') {
    const { status, answer, etag } = await send('POST', '', todo.settings);
    const refused = isTaken(models, todo.settings.external_id);
    expect(status).toBe(refused ? 409 : 200);
    if (refused) return;
    models.push({
      ...{ name: 'Default Key', tags: [], external_id: null, ...todo.settings },
      ...{ id: answer.id, status: 'active', isDeleted: false, etag, forgotten: [] },
      secret: answer.key,
    });
    return;
  }
  const model = models[todo.at % Math.max(1, models.length)];
  if (!model) return;
  if (todo.do === 'delete') {
    expect((await send('DELETE', `/${model.id}`)).status).toBe(200);
    Object.assign(model, { isDeleted: true, status: 'revoked' });
  } else if (todo.do === 'rotate') {
    const { status, answer } = await send('POST', `/${model.id}/rotate`, { grace_s: todo.grace_s });
    expect(status).toBe(model.isDeleted ? 404 : model.status === 'revoked' ? 400 : 200);
    if (status !== 200) return;
    if (model.previous) model.forgotten.push(model.previous.secret);
    model.previous = { secret: model.secret, ends_ms: Date.now() + todo.grace_s * 1_000 };
    model.secret = answer.key;
  } else {
    const etag = todo.isStale ? '"stale"' : model.etag;
    const patched = await send('PATCH', `/${model.id}`, todo.changes, etag);
    const next = todo.changes.status ?? model.status;
    const expected = () => {
      if (model.isDeleted) return 404;
      if (todo.isStale) return 412;
      if (model.status === 'revoked' && next !== 'revoked') return 400;
      return isTaken(models, todo.changes.external_id, model) ? 409 : 200;
    };
    expect(patched.status).toBe(expected());
    if (patched.status === 200) Object.assign(model, todo.changes, { etag: patched.etag });
  }
}

/** The status of a call with a secret of a model. */
function allowed({ status, previous, secret: current }: Model, secret: string): number {
  if (secret !== current && secret !== previous?.secret) return 401;
  if (status === 'revoked') return 401;
  if (secret === previous?.secret && previous.ends_ms <= now()) return 401;
  return status === 'active' ? 200 : 403;
}

async function compare(models: Model[]): Promise<void> {
  const { answer } = await send('GET', '');
  const { data } = answer as unknown as { data: (Settings & { id: string; status: Status })[] };
  const shown = data
    .filter(({ name }) => name !== 'theirs')
    .map(({ id, name, tags, external_id, status }) => ({ id, name, tags, external_id, status }));
  const expected = live(models).map(({ id, name, tags, external_id, status }) => ({
    ...{ id, name, tags, external_id, status },
  }));
  expect(shown).toEqual(expected);
  await Promise.all(
    models.flatMap((model) =>
      [model.secret, model.previous?.secret, ...model.forgotten].map(async (secret) => {
        if (secret === undefined) return;
        const response = await app.fetch('/v1/models', {
          headers: { authorization: `Bearer ${secret}` },
        });
        await response.text();
        expect(response.status).toBe(allowed(model, secret));
      }),
    ),
  );
}

test('after any changes, the list and every secret are as the model says', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      ({ token } = await keys.addStranger());
      later_ms = 0;
      const models: Model[] = [];
      for (const todo of steps) {
        await take(models, todo);
        await compare(models);
      }
    }),
    { numRuns: 60, seed: 20_261_125 },
  );
});
