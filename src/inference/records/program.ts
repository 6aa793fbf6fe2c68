const MAX_PROGRAM_CHARS = 60;

/**
 * Returns the start of a `User-Agent`, up to its first comment, e.g. `OpenAI/JS 7.55.0`. At most 60
 * visible ASCII characters, so that programs can be grouped.
 */
export function programOf(user_agent: string | null): string {
  if (user_agent === null) return '';
  const comment = user_agent.indexOf(' (');
  const start = comment < 0 ? user_agent : user_agent.slice(0, comment);
  return start.slice(0, MAX_PROGRAM_CHARS).replace(/[^\x20-\x7e]/g, '?');
}
