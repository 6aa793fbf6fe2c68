/** The simulated upstream providers, as a separate process. Weir knows only its address. */
import { parseArgs } from 'node:util';
import { helpText } from './help.ts';
import { serveSimulator } from './server.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'exit-with-parent': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

if (values.help) {
  process.stdout.write(helpText());
  process.exit(0);
}

const port = Number(values.port);
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  console.error(`--port ${values.port} is no port. Try --help.`);
  process.exit(2);
}

// A failed call must not end the process, because this would also end all other calls.
process.on('unhandledRejection', (error) => console.error(error));

const server = serveSimulator(port);

function stop(): void {
  void server.stop(true);
  process.exit(0);
}

process.on('SIGTERM', stop);
process.on('SIGINT', stop);
if (values['exit-with-parent']) {
  process.stdin.on('end', stop);
  process.stdin.on('close', stop);
  process.stdin.resume();
}

console.log(`Simulator listens on http://127.0.0.1:${server.port}`);
