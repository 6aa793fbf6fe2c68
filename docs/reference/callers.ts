import { ACTIONS, type Action, may, mayOperate, ROLES, SCOPES } from '../../src/access/actions.ts';
import { MANAGEMENT_ROUTES } from '../../src/http/route-actions.ts';
import type { Caller, ReferenceRoute } from './route.ts';
import { servedPath } from './route.ts';

const OTHERS: Record<Exclude<Caller, 'key' | 'organization' | 'operator'>, string> = {
  session: 'a person who is signed in.',
  anybody: 'anybody, without a credential.',
  link: 'whoever has the link.',
  monitor: 'a process of the same machine; an operator token; the metrics token.',
};

/** Says who may call a route, from the table that the routes check. Throws if the route has no action. */
export function callersOf(route: ReferenceRoute): string {
  const { caller, method } = route;
  switch (caller) {
    case 'organization':
      return organizationOf(route);
    case 'key':
      return `an API key; a person with the role ${listed(rolesFor('keys.use'))}, with the header \`weir-key\`.`;
    case 'operator': {
      const action = method === 'GET' ? 'operator.read' : 'operator.write';
      const scopes = SCOPES.filter((scope) => mayOperate([scope], action));
      return `an operator; an operator token with the scope ${named(scopes)}.`;
    }
    default:
      return OTHERS[caller];
  }
}

const rolesFor = (action: Action) => ROLES.filter((member_role) => may({ member_role }, action));

function organizationOf(route: ReferenceRoute): string {
  const action = MANAGEMENT_ROUTES[`${route.method} ${servedPath(route)}`];
  if (!action) throw new Error(`${route.method} ${route.path} has no action`);
  const scopes = SCOPES.filter((scope) => may({ scopes: [scope] }, action));
  return `a person with the role ${listed(rolesFor(action))}; a management token with the scope ${named(scopes)} (${ACTIONS[action].says}).`;
}

const named = (scopes: readonly string[]) => listed(scopes.map((scope) => `\`${scope}\``));

function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? '';
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} or ${last}` : last;
}
