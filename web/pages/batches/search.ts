/** The states that the filter offers. */
export const BATCH_STATES = ['in_progress', 'canceling', 'ended'] as const;

/** What the list of batches shows: its address has it. */
export interface BatchSearch {
  readonly status?: (typeof BATCH_STATES)[number] | undefined;
  readonly api_key_id?: string | undefined;
}

/** Reads the search of the address. What it does not know is left out. */
export function readBatchSearch({ status, api_key_id }: Record<string, unknown>): BatchSearch {
  return {
    status: BATCH_STATES.find((each) => each === status),
    api_key_id: typeof api_key_id === 'string' && api_key_id !== '' ? api_key_id : undefined,
  };
}
