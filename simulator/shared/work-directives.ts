/**
 * Directives for jobs. A chat accepts them too, without any effect, so that one prompt can script
 * both a chat and a job.
 */
export const TASK_DIRECTIVES = {
  task_ms: ['3000', 'how long the job takes, in ms (1500)'],
  fail: ['moderation', 'the job fails: moderation, input or upstream'],
  at: ['processing', 'where the job fails: submit or processing (processing)'],
  unknown: ['1', 'polls return an unknown status'],
  gone: ['1', 'polls return that the job does not exist'],
  no_url: ['1', 'the job completes without a result'],
  poll_status: ['503', 'polls are refused with this status'],
  poll_times: ['2', 'number of polls that poll_status refuses'],
  url_ms: ['1000', 'how long the URL of a result is valid (10 minutes)'],
} as const satisfies Record<string, readonly [example: string, meaning: string]>;

/** The names of the directives for jobs. */
export const WORK_DIRECTIVES: ReadonlySet<string> = new Set(Object.keys(TASK_DIRECTIVES));
