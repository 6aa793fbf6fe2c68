/**
 * A process that only runs an embedded database, for tests that kill it.
 * Usage: bun embedded-holder.ts DATA_DIR. Prints one line of JSON: the connection, or the error.
 */
import { startEmbeddedPostgres } from '../../db/embedded/server.ts';

const [, , data_dir = ''] = process.argv;
const log = { info() {}, warn() {}, error() {} };

try {
  const server = await startEmbeddedPostgres({ data_dir, log });
  process.on('SIGTERM', () => {
    void server.stop().then(() => process.exit(0));
  });
  console.log(JSON.stringify({ postgres_pid: server.pid, connection: server.connection }));
} catch (error) {
  console.log(JSON.stringify({ error: String(error) }));
  process.exit(1);
}
