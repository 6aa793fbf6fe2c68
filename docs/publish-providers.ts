/** Writes `docs/providers.md`. After a change of the tables of witnesses, run `bun run providers`. */
import { providersPage } from './providers-page.ts';

await Bun.write(new URL('./providers.md', import.meta.url), providersPage());
