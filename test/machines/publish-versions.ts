/**
 * Adds the new versions of durable machines to `versions.json`. After a change of a durable machine,
 * run `bun run machines`. Versions that are published stay as they are.
 */
import { DURABLE } from './durable.ts';
import { addVersions, readVersions, textOf, VERSIONS_FILE } from './versions.ts';

await Bun.write(VERSIONS_FILE, textOf(addVersions(readVersions(), DURABLE)));
