import { WeirError } from '../../errors/weir-error.ts';
import type { Inspector } from '../../inference/inspection/inspector.ts';
import type { LiveFrames } from '../../inference/inspection/live-frames.ts';
import type { OperatorActs } from '../../inference/inspection/operator-acts.ts';
import { OPERATOR, organizationViewer, type Viewer } from '../../inference/inspection/viewer.ts';
import type { Authentication } from '../auth/authentication.ts';
import { requireOwnPage } from '../auth/same-origin.ts';
import type { RequestContext } from '../endpoint.ts';
import { admitManager } from '../management/keys.ts';
import type { UsageDeps } from '../management/usage/lines.ts';

/** What this process has for the routes that show actors. */
interface Inspection {
  readonly inspector: Inspector;
  readonly frames: Pick<LiveFrames, 'open'>;
  readonly acts: Pick<OperatorActs, 'perform'>;
  /** The key of the aliases that organizations see. */
  readonly alias_key: Uint8Array;
  /** The origin of the dashboard, if a setting names it. */
  readonly public_url: string | undefined;
}

/** Dependencies of the routes that show actors. */
export interface InspectDeps {
  readonly authentication: Authentication;
  readonly inspection: () => Inspection;
}

/** Who may use the routes of one interface, and what he sees. */
export interface InspectScope {
  readonly deps: InspectDeps;
  /** Throws WeirError if the caller may not read. */
  admit(context: RequestContext): Promise<Viewer>;
}

/** The scope of the operators' routes. */
export function allActors(deps: InspectDeps): InspectScope {
  return {
    deps,
    async admit(context) {
      await deps.authentication.requireOperator(context);
      refuseOtherSites(deps, context);
      return OPERATOR;
    },
  };
}

/** The scope of the management routes: the actors of the caller's organization. */
export function ownActors(deps: InspectDeps & UsageDeps): InspectScope {
  return {
    deps,
    async admit(context) {
      const { organization_id } = await admitManager(deps, context);
      refuseOtherSites(deps, context);
      return organizationViewer(organization_id, deps.inspection().alias_key);
    },
  };
}

/** A page of another site may not read actors with the cookie of a person. Throws WeirError. */
function refuseOtherSites(deps: InspectDeps, { request }: RequestContext): void {
  if (request.headers.has('authorization')) return;
  requireOwnPage(request, deps.inspection().public_url);
}

/** The error for an actor that does not exist, or that the caller may not see (P6). */
export function actorNotFound(): WeirError {
  return new WeirError('not_found', 'There is no such actor.', {
    param: 'id',
    hint: 'GET …/inspect/actors lists the actors. Quotas and channels leave the list when their replica drops them.',
  });
}
