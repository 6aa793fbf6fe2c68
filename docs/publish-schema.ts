/**
 * Writes `docs/weir.schema.json`, the JSON Schema with which editors check a `weir.yaml`. After a change
 * of the schema, run `bun run schema`.
 */
import { weirYamlJsonSchema } from '../src/config/json-schema.ts';

const file = new URL('./weir.schema.json', import.meta.url);
await Bun.write(file, `${JSON.stringify(weirYamlJsonSchema(), null, 2)}\n`);
