const MAX_PROGRAM_CHARS = 60;

/** The latest value and its program. A busy client sends many requests with the same value. */
let latest = { user_agent: '', program: '' };

/**
 * Returns the start of a `User-Agent`, up to its first comment, e.g. `OpenAI/JS 7.55.0`. At most 60
 * visible ASCII characters, so that programs can be grouped.
 */
export function programOf(user_agent: string | null): string {
  if (user_agent === null) return '';
  if (user_agent === latest.user_agent) return latest.program;
  const comment = user_agent.indexOf(' (');
  const start = comment < 0 ? user_agent : user_agent.slice(0, comment);
  const program = start.slice(0, MAX_PROGRAM_CHARS).replace(/[^\x20-\x7e]/g, '?');
  latest = { user_agent, program };
  return program;
}
