/** Writes `docs/protocols.md`. After a change of the translation, run `bun run protocols`. */
import { protocolsPage } from './protocols-page.ts';

await Bun.write(new URL('./protocols.md', import.meta.url), protocolsPage());
