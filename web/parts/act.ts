import { useState } from 'react';
import { ApiError } from '../api/error.ts';

/** What runs when a person presses a button, and what became of it. */
export interface ActState {
  /** Runs an act. Its error is kept until the next one. */
  readonly act: (work: () => Promise<unknown>) => Promise<void>;
  readonly isBusy: boolean;
  readonly error: unknown;
}

/**
 * Runs acts one at a time. That the session ended is no error here: the frame asks for the password, and
 * the person presses the button again. Nothing that an answer has, e.g. a secret, is kept.
 */
export function useAct(): ActState {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const act = async (work: () => Promise<unknown>) => {
    setBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (failure) {
      if (!(failure instanceof ApiError && failure.isSessionEnded)) setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return { act, isBusy, error };
}
