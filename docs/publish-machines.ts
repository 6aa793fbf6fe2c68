/**
 * Writes `docs/machines.md` and the diagrams of `docs/actors.md`. After a change of a machine, run
 * `bun run machines`.
 */
import { machinesPage, withDiagrams } from './machines-page.ts';

const actors = new URL('./actors.md', import.meta.url);
await Bun.write(new URL('./machines.md', import.meta.url), await machinesPage());
await Bun.write(actors, await withDiagrams(await Bun.file(actors).text()));
