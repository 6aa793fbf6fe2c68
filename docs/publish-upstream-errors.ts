/** Writes `docs/upstream-errors.md`. After a change of the error table, run `bun run errors`. */
import { VENDOR_ERRORS } from '../test/upstreams/transport/errors/all.ts';
import { upstreamErrorsPage } from './upstream-errors-page.ts';

const page = new URL('./upstream-errors.md', import.meta.url);
await Bun.write(page, upstreamErrorsPage(VENDOR_ERRORS));
