/** Writes `docs/catalogue.md` from the catalogue. Run it after a change there: `bun run catalogue`. */
import { cataloguePage } from './catalogue-page.ts';

await Bun.write(new URL('./catalogue.md', import.meta.url), cataloguePage());
