import { ConfigurationError, HELP, readEnvironment } from './config/environment.ts';
import { greeting, writeFirstRun } from './start/greeting.ts';
import { createLog } from './start/log.ts';
import { startWeir } from './start/weir.ts';

/** Bun allows 256 fetches at a time (forms, tasks, results) unless the environment says otherwise. */
const FETCH_LIMIT = 'BUN_CONFIG_MAX_HTTP_REQUESTS';

const { environment, help } = settings();
if (help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const log = createLog(environment.WEIR_LOG_LEVEL);

// A rejection that nobody awaits is a defect, but no reason to drop every other request.
process.on('unhandledRejection', (error) => log.error({ error }, 'unhandled rejection'));
if (!process.env[FETCH_LIMIT]) {
  log.warn(`${FETCH_LIMIT} is not set: at most 256 fetches at a time (bin/start sets it)`);
}

const weir = await startWeir(environment, log).catch((error: unknown) => {
  if (error instanceof ConfigurationError) process.stderr.write(`${error.message}\n`);
  else log.fatal({ error }, 'Weir could not start');
  log.flush(() => process.exit(1));
  return new Promise<never>(() => undefined);
});

if (weir.first_run && weir.embedded) {
  writeFirstRun(environment.WEIR_DATA, weir.base_url, weir.first_run);
}
process.stdout.write(`${greeting(weir.base_url, weir.first_run)}\nWeir is ready\n`);

let stopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    // The second signal does not wait.
    if (stopping) process.exit(1);
    stopping = true;
    weir
      .stop()
      .then(() => process.exit(0))
      .catch((error: unknown) => {
        log.error({ error }, 'the shutdown failed');
        process.exit(1);
      });
  });
}

function settings(): ReturnType<typeof readEnvironment> {
  try {
    return readEnvironment(process.argv.slice(2), process.env);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
}
