/** The table of roles, scopes and actions, and the page that is printed from it. */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { accessPage } from '../../docs/access-page.ts';
import {
  ACTIONS,
  type Action,
  may,
  mayGrant,
  mayOperate,
  ROLES,
  SCOPES,
} from '../../src/access/actions.ts';
import { actionOf, MANAGEMENT_ROUTES } from '../../src/http/route-actions.ts';
import { ROOT } from '../house/sources.ts';

const all = Object.keys(ACTIONS) as Action[];
/** What only a person with a session may do. It is no action of a management route. */
const OF_PEOPLE: Action = 'keys.use';
/** Checked beside the action of a route. */
const BESIDE: Action = 'views.share';
const ofTokens = all.filter((action) => action !== OF_PEOPLE);
const rolesFor = (action: Action) => ROLES.filter((member_role) => may({ member_role }, action));
const scopesFor = (action: Action) => SCOPES.filter((scope) => may({ scopes: [scope] }, action));

describe('roles', () => {
  test.each(all)('%s: a role may do what a lower role may', (action) => {
    const allowed = rolesFor(action);
    expect(allowed).toEqual(ROLES.slice(0, allowed.length));
    expect(allowed).toContain('owner');
  });

  test('a viewer changes nothing but views of his own, and reads no prompt and no secret', () => {
    const allowed = all.filter((action) => may({ member_role: 'viewer' }, action));
    expect(allowed).toEqual([
      ...([
        'usage.read',
        'billing.read',
        'keys.read',
        'budgets.read',
        'views.read',
        'views.write',
        'tasks.read',
        'actors.read',
        'settings.read',
        'alerts.read',
        'people.read',
        'models.read',
      ] as const),
    ]);
  });
});

describe('scopes', () => {
  test('no token calls models', () => {
    expect(scopesFor(OF_PEOPLE)).toEqual([]);
    expect(rolesFor(OF_PEOPLE)).toEqual(['owner', 'admin', 'member']);
  });

  test.each(ofTokens)('%s: admin may do it, and no scope may not', (action) => {
    expect(may({ scopes: ['admin'] }, action)).toBe(true);
    expect(may({ scopes: [] }, action)).toBe(false);
  });

  test('several scopes may do what each may', () => {
    for (const action of all) {
      const each = (['read', 'keys', 'billing'] as const).filter((scope) =>
        may({ scopes: [scope] }, action),
      );
      expect(may({ scopes: ['read', 'keys', 'billing'] }, action)).toBe(each.length > 0);
    }
  });

  test('nobody gives a token more rights than he has', () => {
    for (const member_role of ROLES) {
      for (const scope of SCOPES) {
        const more = all.filter(
          (action) => may({ scopes: [scope] }, action) && !may({ member_role }, action),
        );
        const isAbove = scope === 'admin' && member_role !== 'owner';
        expect(mayGrant({ member_role }, [scope])).toBe(more.length === 0 && !isAbove);
      }
    }
    expect(mayGrant({ scopes: ['keys'] }, ['read'])).toBe(false);
    expect(mayGrant({ scopes: ['read', 'keys'] }, ['keys', 'read'])).toBe(true);
    expect(mayGrant({ scopes: ['admin'] }, SCOPES)).toBe(true);
    expect(mayGrant({ member_role: 'viewer' }, ['admin'])).toBe(false);
  });

  test('only keys and admin may change keys', () => {
    expect(scopesFor('keys.write')).toEqual(['keys', 'admin']);
  });

  test('an operator token with read may read, and with a scope of organizations nothing', () => {
    expect(mayOperate(['read'], 'operator.read')).toBe(true);
    expect(mayOperate(['read'], 'operator.write')).toBe(false);
    expect(mayOperate(['admin'], 'operator.write')).toBe(true);
    expect(mayOperate(['keys', 'billing'], 'operator.read')).toBe(false);
  });
});

describe('routes', () => {
  test('a GET reads, and every action has a route', () => {
    const writes = /\.(write|secret)$/;
    const wrong = Object.entries(MANAGEMENT_ROUTES).filter(
      ([route, action]) => !route.startsWith('GET ') && !writes.test(action),
    );
    expect(wrong).toEqual([]);
    expect(new Set(Object.values(MANAGEMENT_ROUTES))).toEqual(
      new Set(ofTokens.filter((action) => action !== BESIDE)),
    );
  });

  test('a management route without an action cannot be served', () => {
    expect(() => actionOf('POST', '/v1/management/balance')).toThrow('has no action');
    expect(actionOf('DELETE', '/v1/operator/anything')).toBe('operator.write');
    expect(actionOf('GET', '/v1/models')).toBeUndefined();
  });
});

test('docs/access.md is printed from the table', async () => {
  expect(await Bun.file(join(ROOT, 'docs/access.md')).text()).toBe(accessPage());
});
