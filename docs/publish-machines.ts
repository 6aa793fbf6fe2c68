/** Writes `docs/machines.md`. After a change of a machine, run `bun run machines`. */
import { machinesPage } from './machines-page.ts';

await Bun.write(new URL('./machines.md', import.meta.url), await machinesPage());
