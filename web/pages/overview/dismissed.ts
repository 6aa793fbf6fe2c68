import { useEffect, useState } from 'react';

/** What a notice is about, and since when. */
export interface Cause {
  readonly id: string;
  readonly since: string | null;
}

const STORED_AS = 'weir-dismissed-notices';
/** Far more than a person can have at once. */
const MAX_KEPT = 200;

/** Names a cause: when it returns after it ended, it has another beginning and so another name. */
export const causeOf = ({ id, since }: Cause): string => (since === null ? id : `${id}@${since}`);

/**
 * Returns what stays dismissed: an earlier cause that still lasts. One that has ended is forgotten, so
 * that it is shown when it returns.
 */
export function lasting(dismissed: readonly string[], notices: readonly Cause[]): string[] {
  const present = new Set(notices.map(causeOf));
  return dismissed.filter((cause) => present.has(cause)).slice(-MAX_KEPT);
}

/** The notices that the reader of this browser has not dismissed, and how to dismiss one. */
export function useUndismissed<Notice extends Cause>(
  notices: readonly Notice[] | undefined,
): { readonly left: readonly Notice[]; readonly dismiss: (notice: Notice) => void } {
  const [dismissed, setDismissed] = useState(stored);
  const kept = notices === undefined ? dismissed : lasting(dismissed, notices);
  useEffect(() => {
    if (kept.length !== dismissed.length) keep(kept, setDismissed);
  });
  return {
    left: (notices ?? []).filter((notice) => !kept.includes(causeOf(notice))),
    dismiss: (notice) => keep([...kept, causeOf(notice)], setDismissed),
  };
}

/** Without storage, a notice stays dismissed until the page is loaded again. */
function keep(causes: readonly string[], set: (causes: readonly string[]) => void): void {
  try {
    localStorage.setItem(STORED_AS, JSON.stringify(causes));
  } catch {
    // The browser stores nothing for this page.
  }
  set(causes);
}

function stored(): readonly string[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(STORED_AS) ?? '[]');
    return Array.isArray(found) ? found.filter((cause) => typeof cause === 'string') : [];
  } catch {
    return [];
  }
}
