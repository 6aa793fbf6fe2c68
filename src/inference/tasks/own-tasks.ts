/** How tasks use the own keys of their organization. */
import type { ChannelActor } from '../../actors/channels/channel.ts';
import type { OwnKeys, OwnServing } from '../../actors/channels/own-keys.ts';
import { estimateGeneration } from '../../catalogue/generation-price.ts';
import { feeToReserve, reservedPpm } from '../../catalogue/own-key-fee.ts';
import { isOwnChannel } from '../../config/own-key-rows.ts';
import type { ErrorId } from '../../errors/registry.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { TaskEffectDeps, TaskWork } from './deps.ts';
import type { CreateTask } from './port.ts';

/** Where the channels of tasks are found. */
export interface ServingDeps extends Pick<TaskEffectDeps, 'channels'> {
  readonly own?: Pick<OwnKeys, 'serving'> | undefined;
}

/** The channels that may serve a task. Those of own keys are tried first. */
interface ServingTask {
  readonly own: readonly ChannelActor[];
  readonly platform: readonly ChannelActor[];
}

/**
 * Returns the channels that may serve a task. The platform's channels may not if the task has money for
 * own keys only, or if its organization wants own keys only.
 */
export function servingTask(
  { channels, own }: ServingDeps,
  { organization_id, model, own_only }: Pick<TaskWork, 'organization_id' | 'model' | 'own_only'>,
): ServingTask {
  const found = own?.serving(organization_id, model);
  const isOwn = own_only || found?.mode === 'only';
  return { own: found?.channels ?? [], platform: isOwn ? [] : channels.serving(model) };
}

/**
 * Returns the most that a task may cost its key, nano-USD. `own` is set if only own keys may serve it, so
 * that the most is their fee.
 */
export function mostOfTask(
  { model, input, key }: Pick<CreateTask, 'model' | 'input' | 'key'>,
  own: OwnServing | undefined,
): number {
  const list = estimateGeneration(model, input);
  return own ? feeToReserve(list, reservedPpm(own.fee_ppm, key.cap_counts)) : list;
}

/** Returns what a task costs, in millionths of its list price; undefined on the platform's channels. */
export function feeOfTask(
  { fee_ppm }: Pick<TaskEffectDeps, 'fee_ppm'>,
  { channel_id }: Pick<TaskWork, 'channel_id'>,
): number | undefined {
  return isOwnChannel(channel_id) ? (fee_ppm?.() ?? 0) : undefined;
}

/**
 * Throws WeirError if a task continues one of the platform's account, but may use own keys only. The
 * provider knows the earlier result only in the account that made it.
 */
export function refuseOtherAccount(pinned: string | null, own_only: boolean): void {
  if (pinned === null || !own_only || isOwnChannel(pinned)) return;
  throw new WeirError('invalid_request', 'The continued task was made without your own key.', {
    hint: 'Continue a task that was made with an own key, or set own_keys to first.',
  });
}

const MONEY_ERRORS: readonly ErrorId[] = [
  ...(['quota_exceeded', 'insufficient_balance'] as const),
  ...(['quota_in_flight', 'balance_in_flight'] as const),
];

/** True if a task was refused because its money is not there. */
export function isShortOfMoney(error: unknown): boolean {
  return error instanceof WeirError && MONEY_ERRORS.includes(error.id);
}
