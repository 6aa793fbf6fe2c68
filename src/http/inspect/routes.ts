import type { UsageDeps } from '../management/usage/lines.ts';
import type { PathMethods } from '../route.ts';
import { getInspected, listInspected } from './actors.ts';
import { postAct } from './acts.ts';
import { listCallsInFlight } from './calls.ts';
import { getMoment, listEvents } from './history.ts';
import { listMachines } from './machines.ts';
import { getActorRecording, getRequestRecording } from './recordings.ts';
import { allActors, type InspectDeps, type InspectScope, ownActors } from './scope.ts';
import { streamInspected } from './stream.ts';

/**
 * The routes that show actors: all of them to operators, and its own to an organization. Operators can also
 * act on them.
 */
export function inspectRoutes(deps: InspectDeps & UsageDeps): PathMethods[] {
  const all = allActors(deps);
  return [
    ...under('/v1/operator/inspect', all, deps.running),
    ['/v1/operator/inspect/actors/:kind/:id/retry', { POST: postAct(all, 'retry') }],
    ['/v1/operator/inspect/actors/:kind/:id/cancel', { POST: postAct(all, 'cancel') }],
    ['/v1/operator/inspect/actors/:kind/:id/reset', { POST: postAct(all, 'reset') }],
    ...under('/v1/management/inspect', ownActors(deps), deps.running),
  ];
}

function under(path: string, scope: InspectScope, running: UsageDeps['running']): PathMethods[] {
  const actor = `${path}/actors/:kind/:id`;
  return [
    [`${path}/events`, { GET: streamInspected(scope) }],
    [`${path}/machines`, { GET: listMachines(scope) }],
    [`${path}/calls`, { GET: listCallsInFlight(scope, running) }],
    [`${path}/actors`, { GET: listInspected(scope) }],
    [actor, { GET: getInspected(scope) }],
    [`${actor}/recording`, { GET: getActorRecording(scope) }],
    [`${path}/requests/:id/recording`, { GET: getRequestRecording(scope) }],
    [`${actor}/events`, { GET: listEvents(scope) }],
    [`${actor}/events/:seq`, { GET: getMoment(scope) }],
  ];
}
