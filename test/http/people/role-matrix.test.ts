/** Every management route, called by a person of each role, of another organization, and by nobody. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { may, ROLES } from '../../../src/access/actions.ts';
import { MANAGEMENT_ROUTES } from '../../../src/http/route-actions.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { Browser, join } from '../../support/people.ts';

setDefaultTimeout(60_000);

let app: TestApp;
const people = new Map<string, Browser>();
let stranger: Browser;
let ended: Browser;
beforeAll(async () => {
  app = await startTestApp();
  for (const role of ROLES) people.set(role, await join(app, `${role}@example.com`, role));
  await app.pool.sql`insert into organization (id, name) values ('org_other', 'Other')`;
  stranger = await join(app, 'stranger@example.com', 'owner', 'org_other');
  ended = new Browser(app.base_url);
  await ended.signIn('viewer@example.com');
  const cookies = [...ended.cookies];
  await ended.ask('POST', '/v1/auth/sign-out');
  for (const [name, value] of cookies) ended.cookies.set(name, value);
});
afterAll(() => app.stop());

/** The answer to a route about an object that nobody has. So no call changes anything. */
async function answerOf(browser: Browser | undefined, route: string, organization?: string) {
  const [method = '', path = ''] = route.split(' ');
  const target = path.replace(':month', '2026-01').replace(/:\w+/, 'missing');
  const response = await browser?.send(method, target, method === 'GET' ? undefined : { x: 1 }, {
    headers: organization === undefined ? {} : { 'weir-organization': organization },
  });
  await response?.body?.cancel();
  return response?.status ?? 0;
}

describe.each(Object.entries(MANAGEMENT_ROUTES))('%s', (route, action) => {
  test.each(ROLES)('lets %s in as the table says', async (member_role) => {
    const status = await answerOf(people.get(member_role), route);
    if (may({ member_role }, action)) expect([401, 403]).not.toContain(status);
    else expect(status).toBe(403);
  });

  test('refuses a person of another organization, an ended session, and a forged one', async () => {
    expect(await answerOf(stranger, route, app.organization_id)).toBe(403);
    expect(await answerOf(ended, route)).toBe(401);
    const forged = new Browser(app.base_url);
    forged.cookies.set('weir.session_token', `${'a'.repeat(32)}.${'A'.repeat(43)}=`);
    expect(await answerOf(forged, route)).toBe(401);
  });
});
