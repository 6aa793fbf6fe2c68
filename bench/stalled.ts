/** Measures the memory that a client costs if it requests a long answer and reads nothing. */
import { orExit, parseOptions, whole } from '../test/support/arguments.ts';
import { startEndlessUpstream } from '../test/support/endless-upstream.ts';
import { startStalledClients } from '../test/support/stalled-clients.ts';
import { startWeir } from '../test/support/weir.ts';
import { residentMb } from './process.ts';
import { machine, writeSection } from './results-file.ts';

const {
  clients: CLIENTS,
  seconds: SECONDS,
  write,
} = orExit(() => {
  const options = parseOptions(process.argv.slice(2), {
    clients: { type: 'string' },
    seconds: { type: 'string' },
    'no-write': { type: 'boolean' },
  });
  return {
    clients: whole(options, 'clients', 1_000),
    seconds: whole(options, 'seconds', 60),
    write: options['no-write'] !== true,
  };
});
const MODELS = { openai: 'gpt-4o', anthropic: 'claude-haiku-4-5' };

const upstream = startEndlessUpstream();
const channels = Object.entries(MODELS).map(([protocol, model]) => ({
  ...{ id: protocol, protocol, base_url: upstream.url, api_key: 'none', max_concurrency: CLIENTS },
  ...{ timeout_ms: 600_000, models: { [model]: model } },
}));
const weir = await startWeir({
  env: { WEIR_BOOTSTRAP_BALANCE_USD: '1000000' },
  config: JSON.stringify({ channels, roles: { standard: 10_000_000 } }),
});
const before = residentMb(weir.pid);
const messages = [{ role: 'user', content: 'Hello' }];
const requests = Object.values(MODELS).map(
  (model) => ['/v1/chat/completions', { model, stream: true, messages }] as const,
);
const clients = await startStalledClients(weir, CLIENTS, requests);
let peak = 0;
for (let second = 0; second < SECONDS; second += 1) {
  await Bun.sleep(1_000);
  peak = Math.max(peak, residentMb(weir.pid));
}
const after = residentMb(weir.pid);
clients.kill('SIGKILL');
const lines = [
  ['calls under way', `${upstream.calls()}`],
  ['memory of Weir before', `${before} MB`],
  ['at most', `${peak} MB`],
  [`after ${SECONDS} s`, `${after} MB`],
  ['taken from the upstream, kernel buffers included', `${Math.round(upstream.taken() / 1e6)} MB`],
] as const;
for (const [what, figure] of lines) console.log(`${what.padEnd(50)} ${figure}`);
const text = `## ${CLIENTS} clients that do not read

\`bin/bench stalled\`, ${machine()}. Each client requested a stream of 160 MB in events of 16 kB and read nothing of
it. Half of the streams are passed through, half are translated. The kernel buffers up to 4 MB for each client,
which no program can prevent. Weir also holds the sent text until it is charged, and one read of
each upstream.

| | |
|---|---|
${lines.map(([what, figure]) => `| ${what} | ${figure} |`).join('\n')}
`;
await weir.stop();
await upstream.stop();
if (write) writeSection('stalled', text);
process.exit(0);
