import type { OwnServing } from '../../actors/channels/own-keys.ts';
import { WeirError } from '../../errors/weir-error.ts';

/** A call that may run on own keys of its organization. */
interface OwnCall {
  readonly own?: OwnServing | undefined;
}

/**
 * Runs a call on the own keys of its organization. If the organization allows it and no own key serves
 * the call, the call runs on the platform's channels, as if there were no own key. Each of the two runs
 * reserves the money that it may cost (P4). Throws the errors of `run`.
 */
export async function onOwnKeys<Call extends OwnCall, Result>(
  own: OwnServing,
  call: Call,
  run: (call: Call) => Result | Promise<Result>,
): Promise<Result> {
  if (own.mode === 'only') return run({ ...call, own });
  try {
    return await run({ ...call, own });
  } catch (error) {
    if (!isOfChannels(error)) throw error;
    return run(call);
  }
}

/** The errors of a call that no channel could take, whatever the channels are. */
class NoAbleChannelError extends Error {
  override readonly name = 'NoAbleChannelError';
}

/**
 * Returns the error of a call whose parameters no own key can express, as the client gets it. Other
 * channels may be able to.
 */
export function unableError(error: unknown): unknown {
  if (!(error instanceof WeirError)) return error;
  return new WeirError(error.id, error.message, error.details, new NoAbleChannelError());
}

/** True if the channels could not serve the call. Then others may, and nothing was charged. */
function isOfChannels(error: unknown): boolean {
  if (!(error instanceof WeirError)) return false;
  return error.cause instanceof AggregateError || error.cause instanceof NoAbleChannelError;
}
