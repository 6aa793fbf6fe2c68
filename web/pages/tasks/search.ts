/** The states that the filter offers. */
export const TASK_STATES = ['pending', 'processing', 'completed', 'failed'] as const;
/** What tasks make. */
export const TASK_SCENES = ['image', 'video', 'music', '3d', 'audio'] as const;

/** What the list of tasks shows: its address has it. The names are those of the API. */
export interface TaskSearch {
  readonly status?: (typeof TASK_STATES)[number] | undefined;
  readonly scene?: (typeof TASK_SCENES)[number] | undefined;
  readonly model?: string | undefined;
  readonly api_key_id?: string | undefined;
}

/** Reads the search of the address. What it does not know is left out. */
export function readTaskSearch(given: Record<string, unknown>): TaskSearch {
  const text = (name: string) => {
    const value = given[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  return {
    status: TASK_STATES.find((each) => each === given['status']),
    // A scene may look like a number to the router.
    scene: TASK_SCENES.find((each) => each === given['scene']),
    model: text('model'),
    api_key_id: text('api_key_id'),
  };
}
