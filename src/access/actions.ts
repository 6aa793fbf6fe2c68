/**
 * Who may do what: one table of actions × roles and scopes. It drives the checks of the routes, the
 * tests and docs/access.md.
 */

/** What a person may be in an organization, from the most rights to the fewest. */
export const ROLES = ['owner', 'admin', 'member', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

/** What a management token may be good for. `admin` includes the others. */
export const SCOPES = ['read', 'keys', 'billing', 'admin'] as const;
export type TokenScope = (typeof SCOPES)[number];

interface Permission {
  /** What the action is, for people. */
  readonly says: string;
  /** The roles that may do it. */
  readonly roles: readonly Role[];
  /** The scopes that are good for it, beside `admin`. */
  readonly scopes: readonly Exclude<TokenScope, 'admin'>[];
  /** True if no token may do it, whatever its scopes. */
  readonly needs_person?: true;
}

const ALL: readonly Role[] = ROLES;
const WORKERS: readonly Role[] = ['owner', 'admin', 'member'];
const ADMINS: readonly Role[] = ['owner', 'admin'];

/** The actions in an organization. */
export const ACTIONS = {
  'usage.read': { says: 'see calls and usage', roles: ALL, scopes: ['read', 'billing'] },
  'billing.read': { says: 'see money', roles: ALL, scopes: ['read', 'billing'] },
  'keys.read': { says: 'see API keys', roles: ALL, scopes: ['read', 'keys'] },
  'keys.write': { says: 'create and change API keys', roles: WORKERS, scopes: ['keys'] },
  'budgets.read': { says: 'see budgets', roles: ALL, scopes: ['read', 'billing', 'keys'] },
  'budgets.write': { says: 'create, change and delete budgets', roles: ADMINS, scopes: [] },
  'keys.use': {
    says: 'call models with an API key of the organization',
    roles: WORKERS,
    scopes: [],
    needs_person: true,
  },
  'views.read': { says: 'see saved views', roles: ALL, scopes: ['read', 'billing'] },
  'views.write': { says: 'save views of pages', roles: ALL, scopes: [] },
  'views.share': { says: 'save views for the whole organization', roles: WORKERS, scopes: [] },
  'tokens.read': { says: 'see management tokens', roles: ADMINS, scopes: ['read'] },
  'tokens.write': { says: 'create and change management tokens', roles: ADMINS, scopes: [] },
  'tasks.read': {
    says: 'see tasks, batches and webhook deliveries',
    roles: ALL,
    scopes: ['read'],
  },
  'tasks.write': {
    says: 'cancel tasks and batches, send webhooks again',
    roles: WORKERS,
    scopes: [],
  },
  'actors.read': {
    says: 'see the states and events of tasks, batches, webhooks and keys',
    roles: ALL,
    scopes: ['read'],
  },
  'results.read': { says: 'read the results of batches', roles: WORKERS, scopes: [] },
  'settings.read': { says: 'see the settings', roles: ALL, scopes: ['read'] },
  'settings.write': { says: 'change the settings', roles: ADMINS, scopes: [] },
  'webhooks.secret': { says: 'see and rotate the webhook secret', roles: ADMINS, scopes: [] },
  'alerts.read': {
    says: 'see alerts, their endpoints and deliveries',
    roles: ALL,
    scopes: ['read'],
  },
  'alerts.write': {
    says: 'change endpoints and settings of alerts, send alerts again',
    roles: ADMINS,
    scopes: [],
  },
  'debug.read': { says: 'read copies of prompts and answers', roles: ADMINS, scopes: [] },
  'debug.write': { says: 'open and close debug windows', roles: ADMINS, scopes: [] },
  'upstream_keys.read': {
    says: 'see own upstream keys, without the keys themselves',
    roles: ADMINS,
    scopes: ['read'],
  },
  'upstream_keys.write': {
    says: 'add, test, change, rotate and revoke own upstream keys',
    roles: ADMINS,
    scopes: [],
  },
  'cache.write': { says: 'remove stored answers of the cache', roles: ADMINS, scopes: [] },
  'people.read': { says: 'see people and invitations', roles: ALL, scopes: ['read'] },
  'people.write': { says: 'invite people and change their roles', roles: ADMINS, scopes: [] },
  'audit.read': { says: 'read the audit log', roles: ADMINS, scopes: ['read'] },
  'models.read': { says: 'see models and their prices', roles: ALL, scopes: ['read', 'keys'] },
} as const satisfies Record<string, Permission>;

/** An action in an organization. */
export type Action = keyof typeof ACTIONS;

/** What an operator does with the whole installation. */
export type OperatorAction = 'operator.read' | 'operator.write';

/** What the caller of a management route may do: a token has scopes, a person has a role. */
export type Rights =
  | { readonly scopes: readonly TokenScope[]; readonly member_role?: undefined }
  | { readonly member_role: Role; readonly scopes?: undefined };

/** True if the rights are enough for an action. */
export function may(rights: Rights, action: Action): boolean {
  const { roles, scopes, needs_person }: Permission = ACTIONS[action];
  if (rights.member_role !== undefined) return roles.includes(rights.member_role);
  if (needs_person) return false;
  return rights.scopes.some((scope) => scope === 'admin' || scopes.includes(scope));
}

/**
 * True if the rights include all that a token with these scopes may do. Otherwise its holder could give
 * himself more rights than he has. A token with `admin` may make owners, so only an owner may create it.
 */
export function mayGrant(rights: Rights, scopes: readonly TokenScope[]): boolean {
  const { member_role } = rights;
  if (member_role !== undefined && member_role !== 'owner' && scopes.includes('admin'))
    return false;
  const actions = Object.keys(ACTIONS) as Action[];
  return actions.every((action) => !may({ scopes }, action) || may(rights, action));
}

/**
 * True if the rights include all that a person with this role may do. So an admin neither makes nor
 * removes an owner.
 */
export function mayAssign(rights: Rights, role: Role): boolean {
  if (rights.member_role !== undefined) {
    return ROLES.indexOf(role) >= ROLES.indexOf(rights.member_role);
  }
  return mayGrant(rights, ['admin']);
}

/** True if an operator token with these scopes may do an action. */
export function mayOperate(scopes: readonly TokenScope[], action: OperatorAction): boolean {
  return scopes.includes('admin') || (action === 'operator.read' && scopes.includes('read'));
}

/** Returns what is missing for an action, for the error that refuses it. */
export function neededFor(rights: Rights, action: Action): string {
  const { roles, scopes }: Permission = ACTIONS[action];
  return rights.member_role === undefined
    ? `a token with the scope ${[...scopes, 'admin'].join(' or ')}`
    : `the role ${roles.join(' or ')}`;
}
