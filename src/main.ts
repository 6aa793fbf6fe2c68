import { ConfigurationError, HELP, readEnvironment } from './config/environment.ts';
import { BuiltDashboard } from './start/dashboard.ts';
import { greeting, writeFirstRun } from './start/greeting.ts';
import { createLog } from './start/log.ts';
import { startWeir } from './start/weir.ts';

/**
 * Bun allows 256 fetches at the same time unless this variable sets another limit. Downloads of
 * results use fetch, and channels whose transport is fetch.
 */
const FETCH_LIMIT = 'BUN_CONFIG_MAX_HTTP_REQUESTS';

const { environment, help } = readSettings();
if (help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const log = createLog(environment.WEIR_LOG_LEVEL);

// An unhandled rejection is a defect, but must not end the other requests.
process.on('unhandledRejection', (error) => log.error({ error }, 'unhandled rejection'));
if (!process.env[FETCH_LIMIT]) {
  log.warn(
    `${FETCH_LIMIT} is not set: Weir runs at most 256 fetches at the same time. Start it with bin/start, which sets it.`,
  );
}

const dashboard = environment.WEIR_DASHBOARD === 'on' ? new BuiltDashboard(log) : undefined;
const started = await startWeir(environment, log, {}, dashboard).catch((error: unknown) => {
  if (error instanceof ConfigurationError) process.stderr.write(`${error.message}\n`);
  else log.fatal({ error }, 'Weir could not start');
  log.flush(() => process.exit(1));
  return new Promise<never>(() => undefined);
});

const weir = { ...started, has_dashboard: dashboard !== undefined };
if (weir.first_run && weir.embedded) {
  writeFirstRun(environment.WEIR_DATA, weir, weir.first_run);
}
process.stdout.write(`${greeting(weir)}\nWeir is ready\n`);
// The dashboard does not delay the first call.
dashboard?.build();

let stopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    // A second signal stops the process at once.
    if (stopping) process.exit(1);
    stopping = true;
    dashboard?.stop();
    weir
      .stop()
      .then(() => process.exit(0))
      .catch((error: unknown) => {
        log.error({ error }, 'the shutdown failed');
        process.exit(1);
      });
  });
}

function readSettings(): ReturnType<typeof readEnvironment> {
  try {
    return readEnvironment(process.argv.slice(2), process.env);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
}
