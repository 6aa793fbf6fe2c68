import { type Handler, json } from '../../endpoint.ts';
import { admitManager } from '../keys.ts';
import type { UsageDeps } from './lines.ts';
import { operatorCall, publicCall, runningList } from './running-view.ts';

/**
 * `GET /v1/management/calls`: the calls of the organization that run now, on all replicas, the
 * oldest first, with their stage and the money that they hold.
 */
export function listRunningCalls(deps: UsageDeps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    return json(runningList(await deps.running().list(organization_id), publicCall));
  };
}

/** `GET /v1/operator/calls`: the same of all organizations, with channel and replica. */
export function listAllRunningCalls(deps: UsageDeps): Handler {
  return async (context) => {
    await deps.authentication.requireOperator(context);
    return json(runningList(await deps.running().list(null), operatorCall));
  };
}
