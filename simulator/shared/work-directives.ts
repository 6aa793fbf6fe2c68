/**
 * Directives of long work (design 8): known, so that one prompt can script a chat and a task alike,
 * and without effect on an answer that comes at once.
 */
export const WORK_DIRECTIVES: ReadonlySet<string> = new Set(['task_ms', 'fail', 'at']);
