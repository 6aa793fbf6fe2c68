import type { TransactionSql } from '../../../db/client.ts';
import { type ConfiguredItem, readConfiguredItems } from '../../../db/configuration/items.ts';
import { countModelUses } from '../../../db/configuration/uses.ts';
import { type Installation, withItems } from '../../config/installation.ts';
import { rowKeyOf } from '../../config/model-layers.ts';
import { WeirError } from '../../errors/weir-error.ts';

/**
 * Returns the installation with a changed item. Throws WeirError if the item does not fit the other rows,
 * `weir.yaml` or the catalogue.
 */
export async function withFitting(
  tx: TransactionSql,
  now: Installation,
  item: ConfiguredItem,
): Promise<Installation> {
  const others = (await readConfiguredItems(tx)).filter(
    (each) => rowKeyOf(each) !== rowKeyOf(item),
  );
  const next = withItems(now, [...others, item]);
  const problem = next.layers.problems.get(rowKeyOf(item));
  if (!problem) return next;
  const param = problem.param || 'id';
  throw new WeirError('invalid_request', `${param} ${problem.message}.`, { param });
}

/**
 * Throws WeirError if a model that only a row declares is in use. Without its row, tasks that run would
 * lose their price, and channels the model.
 */
export async function refuseUsedModel(
  tx: TransactionSql,
  { layers }: Installation,
  id: string,
): Promise<void> {
  const isElsewhere = [...layers.built_in, ...layers.yaml.models].some((each) => each.id === id);
  if (isElsewhere) return;
  const { tasks, channels, items } = await countModelUses(tx, id);
  const [first] = channels;
  if (first !== undefined)
    throw inUse(`The channel ${first} serves this model.`, 'Remove the model from the channel.');
  if (tasks > 0) throw inUse('Tasks of this model run.', 'Delete the model when they have ended.');
  if (items === 0) return;
  throw inUse(
    'This model has a price or a routing of its own.',
    'Delete the price and the routing first.',
  );
}

function inUse(message: string, hint: string): WeirError {
  return new WeirError('conflict', message, { param: 'id', hint });
}
