import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { upstreamErrorsPage } from '../../docs/upstream-errors-page.ts';
import { ROOT } from '../house/sources.ts';
import { VENDOR_ERRORS } from '../upstreams/transport/errors/all.ts';

test('docs/upstream-errors.md has the present table; if it differs, run `bun run errors`', async () => {
  const page = await Bun.file(join(ROOT, 'docs/upstream-errors.md')).text();
  expect(page).toBe(upstreamErrorsPage(VENDOR_ERRORS));
});
