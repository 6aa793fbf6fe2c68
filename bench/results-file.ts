import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

const RESULTS = fileURLToPath(new URL('./RESULTS.md', import.meta.url));

/** Replaces the section of one measurement; the other sections stay. */
export function writeSection(
  name:
    | 'calls'
    | 'tasks'
    | 'live-tasks'
    | 'lag'
    | 'stalled'
    | 'neighbours'
    | 'usage'
    | 'web'
    | 'actors'
    | 'cache'
    | 'cache-misses'
    | 'limits'
    | 'limits-redis',
  text: string,
): void {
  const [open, close] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
  const before = readFileSync(RESULTS, 'utf8');
  const section = `${open}\n${text.trim()}\n${close}`;
  const at = before.indexOf(open);
  const end = before.indexOf(close);
  const after =
    at < 0 || end < at
      ? `${before.trimEnd()}\n\n${section}\n`
      : before.slice(0, at) + section + before.slice(end + close.length);
  writeFileSync(RESULTS, after);
}

/** The date, the machine and the version of Bun. */
export function machine(): string {
  const today = new Date().toISOString().slice(0, 10);
  return `${today}, ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), Bun ${Bun.version}`;
}
