/** Writes `docs/access.md`. After a change of the table of roles and scopes, run `bun run access`. */
import { accessPage } from './access-page.ts';

await Bun.write(new URL('./access.md', import.meta.url), accessPage());
