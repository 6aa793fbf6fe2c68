/**
 * Writes `docs/weir.schema.json`, which editors check a `weir.yaml` against. Run it after a change
 * of the schema: `bun run schema`.
 */
import { weirYamlJsonSchema } from '../src/config/json-schema.ts';

const file = new URL('./weir.schema.json', import.meta.url);
await Bun.write(file, `${JSON.stringify(weirYamlJsonSchema(), null, 2)}\n`);
