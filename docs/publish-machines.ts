/**
 * Writes `docs/machines.md`: the state diagrams of `src/machines`. Run it after a change of a
 * machine: `bun run machines`.
 */
import { machinesPage } from './machines-page.ts';

await Bun.write(new URL('./machines.md', import.meta.url), await machinesPage());
