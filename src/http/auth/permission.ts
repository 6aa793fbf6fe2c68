import type { OrganizationStatus } from '../../../db/accounts/organizations.ts';
import {
  ACTIONS,
  type Action,
  may,
  mayOperate,
  neededFor,
  type OperatorAction,
  type Rights,
  type TokenScope,
} from '../../access/actions.ts';
import { organizationStatusError } from '../../errors/organization-status.ts';
import { WeirError } from '../../errors/weir-error.ts';

type RouteAction = Action | OperatorAction | undefined;

const isOperation = (action: RouteAction): action is OperatorAction =>
  action === 'operator.read' || action === 'operator.write';

/** Throws WeirError `access_denied` unless the rights are enough for the action of a route. */
export function requirePermission(rights: Rights, action: RouteAction): void {
  if (action === undefined || isOperation(action)) throw new Error('the route has no action');
  if (may(rights, action)) return;
  const { says } = ACTIONS[action];
  throw new WeirError(
    'access_denied',
    `You may not ${says}: that needs ${neededFor(rights, action)}.`,
    {
      hint:
        rights.member_role === undefined
          ? 'Use another management token, or ask an admin of the organization for one.'
          : 'Ask an owner or an admin of the organization.',
    },
  );
}

/** Throws WeirError `organization_closed` if the action changes something in a closed organization. */
export function requireOpen(status: OrganizationStatus, action: RouteAction): void {
  if (status !== 'closed' || action?.endsWith('.read')) return;
  throw organizationStatusError('closed', 'token');
}

/** Throws WeirError `access_denied` if an operator token with these scopes may not do the action. */
export function requireOperation(scopes: readonly TokenScope[], action: RouteAction): void {
  if (mayOperate(scopes, isOperation(action) ? action : 'operator.read')) return;
  throw new WeirError('access_denied', 'This operator token may only read.', {
    hint: 'Use an operator token with the scope admin.',
  });
}
