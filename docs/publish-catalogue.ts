/** Writes `docs/catalogue.md`. After a change of the catalogue, run `bun run catalogue`. */
import { cataloguePage } from './catalogue-page.ts';

await Bun.write(new URL('./catalogue.md', import.meta.url), cataloguePage());
