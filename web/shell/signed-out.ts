import { useSyncExternalStore } from 'react';

/**
 * True while an answer said that the session has ended. The frame then asks for the password over the
 * page, so that a half-filled form is not lost.
 */
let isSignedOut = false;
const listeners = new Set<() => void>();

function set(value: boolean): void {
  isSignedOut = value;
  for (const listener of listeners) listener();
}

/** Called when an answer says that the session has ended. */
export const askToSignInAgain = (): void => set(true);

/** Called when the person has signed in again. */
export const signedInAgain = (): void => set(false);

/** True while the person must sign in again. */
export function useSignedOut(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isSignedOut,
  );
}
