import { unsentParameter } from '../../upstreams/generation/sent-parameters.ts';
import { orderChannels } from '../routing/order.ts';
import { type Route, routeOver, type TaskEffectDeps, type TaskWork } from './deps.ts';

/**
 * Returns the routes over channels that can send every parameter of a job (P18), in the order in which
 * they are tried. `tried` are the channels that rejected the job. `pinned` is the only channel that can
 * take it; null = any.
 */
export function jobRoutes(
  deps: Pick<TaskEffectDeps, 'channels' | 'catalogue' | 'random' | 'protocols'>,
  { model, input }: Pick<TaskWork, 'model' | 'input'>,
  tried: readonly string[],
  pinned: string | null,
): Route[] {
  const serving = deps.channels
    .serving(model)
    .filter(({ config }) => !tried.includes(config.id) && (pinned ?? config.id) === config.id);
  const policy = deps.catalogue().find(model)?.declaration.routing?.policy;
  return orderChannels(serving, deps.random, policy)
    .flatMap((channel) => routeOver(deps, channel, model) ?? [])
    .filter(({ protocol, physical_model }) => {
      return unsentParameter(protocol.name, physical_model, input) === undefined;
    });
}
