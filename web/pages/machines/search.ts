/** What a machine's page shows: its address has it. */
export interface MachineSearch {
  /** Path of the chosen state, e.g. `processing.waiting`. */
  readonly state?: string | undefined;
}

/** Reads the search of the address. What it does not know is left out. */
export function readMachineSearch(given: Record<string, unknown>): MachineSearch {
  const { state } = given;
  return { state: typeof state === 'string' && state !== '' ? state : undefined };
}
