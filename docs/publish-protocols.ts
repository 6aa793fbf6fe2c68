/**
 * Writes `docs/protocols.md` and `docs/left-out.md`. After a change of the translation or of the list of
 * what is left out, run `bun run protocols`.
 */
import { leftOutPage } from './left-out-page.ts';
import { protocolsPage } from './protocols-page.ts';

await Bun.write(new URL('./protocols.md', import.meta.url), protocolsPage());
await Bun.write(new URL('./left-out.md', import.meta.url), leftOutPage());
