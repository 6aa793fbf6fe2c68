/** Saved views of pages: own and shared ones, who sees and changes them, and how many there can be. */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { MAX_VIEWS } from '../../../db/views/views.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { errorOf } from '../../support/envelope.ts';
import { type Browser, join, refusalOf, type SessionRecord } from '../../support/people.ts';

setDefaultTimeout(60_000);

interface View {
  object: string;
  id: string;
  name: string;
  page: string;
  query: string;
  shared: boolean;
  created_by: string;
  may_change?: boolean;
}
type Person = Browser & { session: SessionRecord };

let app: TestApp;
let ada: Person;
let bob: Person;
let viewer: Person;
let stranger: Person;
beforeAll(async () => {
  app = await startTestApp();
  ada = await join(app, 'ada@example.com', 'admin');
  bob = await join(app, 'bob@example.com', 'member');
  viewer = await join(app, 'viewer@example.com', 'viewer');
  await app.pool.sql`insert into organization (id, name) values ('org_other', 'Other')`;
  stranger = await join(app, 'stranger@example.com', 'owner', 'org_other');
});
afterAll(() => app.stop());
beforeEach(() => app.pool.sql`delete from saved_view`.then(() => undefined));

const PATH = '/v1/management/views';
const VIEW = { name: 'Spend by key', page: 'usage', query: 'metric=cost&group=api_key_id' };

const make = (person: Browser, more: object = {}) =>
  person.ask<View>('POST', PATH, { ...VIEW, ...more });
const listOf = async (person: Browser, query = '') =>
  (await person.ask<{ data: View[] }>('GET', PATH + query)).data;

describe('a view of one’s own', () => {
  test('is made, listed, changed and deleted by its person only', async () => {
    const made = await make(ada);
    expect(made).toMatchObject({ ...VIEW, object: 'view', shared: false });
    expect(made.id).toMatch(/^view_/);
    expect(made.created_by).toBe(ada.session.person.id);
    expect(await listOf(ada)).toMatchObject([{ id: made.id, may_change: true }]);
    for (const other of [bob, viewer, stranger]) {
      expect(await listOf(other)).toEqual([]);
      for (const method of ['PATCH', 'DELETE']) {
        const answer = await other.send(method, `${PATH}/${made.id}`, { name: 'mine' });
        expect(await refusalOf(answer)).toBe('404 not_found');
      }
    }
    // A token with all rights has no person.
    expect((await app.manage('PATCH', `/views/${made.id}`, { name: 'x' })).status).toBe(404);
    const path = `${PATH}/${made.id}`;
    expect(await ada.ask<View>('PATCH', path, { name: 'Renamed' })).toMatchObject({
      ...{ ...VIEW, name: 'Renamed' },
    });
    expect(await ada.ask<object>('DELETE', path)).toEqual({
      ...{ object: 'view.deleted', id: made.id, deleted: true },
    });
    expect(await listOf(ada)).toEqual([]);
    expect((await ada.send('DELETE', path)).status).toBe(404);
  });

  test('a viewer has some too', async () => {
    expect(await make(viewer)).toMatchObject({ shared: false });
    expect((await listOf(viewer)).length).toBe(1);
  });

  test('goes with its person', async () => {
    const leaver = await join(app, 'leaver@example.com', 'member');
    await make(leaver);
    const shared = await make(leaver, { shared: true });
    const { id } = leaver.session.person;
    expect((await app.manage('DELETE', `/people/${id}`)).status).toBe(200);
    const rows = await app.pool.sql`select id from saved_view`;
    expect(rows.map((row) => row['id'])).toEqual([shared.id]);
  });

  test('is in no audit log, and a shared one is', async () => {
    const own = await make(ada);
    const shared = await make(ada, { shared: true });
    await ada.ask('PATCH', `${PATH}/${shared.id}`, { query: 'metric=requests' });
    await ada.ask('PATCH', `${PATH}/${own.id}`, { query: 'secret=1' });
    await ada.ask('DELETE', `${PATH}/${shared.id}`);
    const lines = (await app.manage('GET', `/audit-log?subject_id=${shared.id}`)).json();
    const { data } = (await lines) as { data: { action: string; before: object; after: object }[] };
    expect(data.map(({ action }) => action)).toEqual(['view.delete', 'view.update', 'view.create']);
    expect(data[1]).toMatchObject({
      before: { query: VIEW.query },
      after: { query: 'metric=requests' },
    });
    const none = (await (await app.manage('GET', `/audit-log?subject_id=${own.id}`)).json()) as {
      data: object[];
    };
    expect(none.data).toEqual([]);
  });
});

describe('a shared view', () => {
  test('is seen by the whole organization, and changed by owners, admins and members', async () => {
    const { id } = await make(bob, { shared: true });
    for (const person of [ada, bob]) {
      expect(await listOf(person)).toMatchObject([{ id, shared: true, may_change: true }]);
    }
    expect(await listOf(viewer)).toMatchObject([{ id, may_change: false }]);
    expect(await listOf(stranger)).toEqual([]);
    const refused = await viewer.send('PATCH', `${PATH}/${id}`, { name: 'x' });
    expect(await refusalOf(refused)).toBe('403 access_denied');
    expect(await refusalOf(await viewer.send('POST', PATH, { ...VIEW, shared: true }))).toBe(
      '403 access_denied',
    );
    expect(await ada.ask<View>('PATCH', `${PATH}/${id}`, { name: 'Ours' })).toMatchObject({
      name: 'Ours',
    });
  });

  test('becomes an own one of the person who takes it, and back', async () => {
    const { id } = await make(bob, { shared: true });
    await ada.ask('PATCH', `${PATH}/${id}`, { shared: false });
    expect(await listOf(bob)).toEqual([]);
    await ada.ask('PATCH', `${PATH}/${id}`, { shared: true });
    expect(await listOf(bob)).toMatchObject([{ id, shared: true }]);
  });

  test('is the only kind that a token makes', async () => {
    const made = (await (await app.manage('POST', '/views', VIEW)).json()) as View;
    expect(made.shared).toBe(true);
    const error = await errorOf(
      await app.manage('POST', '/views', { ...VIEW, shared: false }),
      400,
    );
    expect(error).toMatchObject({ param: 'shared' });
  });
});

describe('a request', () => {
  test('lists the views of one page', async () => {
    await make(ada, { page: 'tasks', query: '' });
    await make(ada);
    expect((await listOf(ada, '?page=tasks')).map((view) => view.page)).toEqual(['tasks']);
    expect(await listOf(ada, '?page=billing')).toEqual([]);
  });

  test.each<[param: string, body: object]>([
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(51) }],
    ['page', { page: 'Usage' }],
    ['page', { page: '../x' }],
    ['query', { query: '?a=b' }],
    ['query', { query: 'a=\u0000' }],
    ['query', { query: 'a b' }],
    ['query', { query: 'x'.repeat(4_001) }],
    ['shared', { shared: 'yes' }],
    ['person_id', { person_id: 'person_1' }],
  ])('400: a wrong %s: %j', async (param, body) => {
    const answer = await ada.send('POST', PATH, { ...VIEW, ...body });
    expect(await errorOf(answer, 400)).toMatchObject({ param });
  });

  test('keeps the change of another from being lost', async () => {
    const { id } = await make(ada, { shared: true });
    const first = await ada.send('PATCH', `${PATH}/${id}`, { name: 'first' });
    const etag = first.headers.get('etag') ?? '';
    await bob.ask('PATCH', `${PATH}/${id}`, { name: 'second' });
    const headers = { 'if-match': etag };
    const late = await ada.send('PATCH', `${PATH}/${id}`, { name: 'third' }, { headers });
    expect(await refusalOf(late)).toBe('412 precondition_failed');
  });

  test('with an Idempotency-Key makes one view', async () => {
    const headers = { 'idempotency-key': 'view-1' };
    const ids = new Set<string>();
    for (let round = 0; round < 3; round += 1) {
      const answer = await ada.send('POST', PATH, VIEW, { headers });
      ids.add(((await answer.json()) as View).id);
    }
    expect(ids.size).toBe(1);
    expect((await listOf(ada)).length).toBe(1);
  });

  test('cannot make more views than there can be', async () => {
    const { id } = ada.session.person;
    await app.pool.sql`
      insert into saved_view (id, organization_id, person_id, name, page, query, created_by)
      select 'view_' || n, ${app.organization_id}, ${id}, 'v', 'usage', '', ${id}
      from generate_series(1, ${MAX_VIEWS - 1}) as n`;
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => ada.send('POST', PATH, VIEW)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400]);
    // The others have room, and so has the organization.
    expect((await bob.send('POST', PATH, VIEW)).status).toBe(200);
    expect((await ada.send('POST', PATH, { ...VIEW, shared: true })).status).toBe(200);
  });
});
