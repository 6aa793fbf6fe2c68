import { unsentParameter } from '../../upstreams/generation/sent-parameters.ts';
import { orderChannels } from '../routing/order.ts';
import { type Route, routeOver, type TaskEffectDeps, type TaskWork } from './deps.ts';
import { type ServingDeps, servingTask } from './own-tasks.ts';

/**
 * Returns the routes over channels that can send every parameter of a job (P18), in the order in which
 * they are tried: own keys of its organization come first. `tried` are the channels that rejected the
 * job. `pinned` is the only channel that can take it; null = any.
 */
export function jobRoutes(
  deps: ServingDeps & Pick<TaskEffectDeps, 'catalogue' | 'random' | 'protocols'>,
  work: Pick<TaskWork, 'organization_id' | 'model' | 'input' | 'own_only'>,
  tried: readonly string[],
  pinned: string | null,
): Route[] {
  const { organization_id, model, input } = work;
  const policy = deps.catalogue(organization_id).find(model)?.declaration.routing?.policy;
  const { own, platform } = servingTask(deps, work);
  return [own, platform]
    .map((serving) =>
      serving.filter(({ config: { id } }) => !tried.includes(id) && (pinned ?? id) === id),
    )
    .flatMap((serving) => orderChannels(serving, deps.random, policy))
    .flatMap((channel) => routeOver(deps, channel, model) ?? [])
    .filter(({ protocol, physical_model }) => {
      return unsentParameter(protocol.name, physical_model, input) === undefined;
    });
}
