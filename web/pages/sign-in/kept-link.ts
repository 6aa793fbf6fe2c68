/** The one-time link with which the page was opened. It is only here: no address and no storage has it. */
let link = '';

/** Keeps the link of the address. */
export function keepLink(opened: string): void {
  link = opened;
}

/** Returns the link; empty after a reload, and the page says so. */
export const keptLink = (): string => link;
