/**
 * Writes `docs/protocols.md`: what of each client protocol can be said to which upstream. Run it after
 * a change of the translation: `bun run protocols`.
 */
import { protocolsPage } from './protocols-page.ts';

await Bun.write(new URL('./protocols.md', import.meta.url), protocolsPage());
