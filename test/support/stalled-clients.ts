import { join } from 'node:path';
import type { RunningWeir } from './weir.ts';

const SCRIPT = join(import.meta.dir, 'stalled-client.ts');

/**
 * Starts clients in another process. The process is stopped after it has sent their requests, so
 * the clients never read. They send the given requests in turn. `kill('SIGKILL')` ends them.
 */
export async function startStalledClients(
  weir: RunningWeir,
  count: number,
  requests: readonly (readonly [path: string, body: object])[],
): Promise<Bun.Subprocess> {
  const texts = requests.map(([path, body]) => requestText(weir, path, JSON.stringify(body)));
  const child = Bun.spawn([process.execPath, SCRIPT, String(weir.port), String(count), ...texts], {
    ...{ stdin: 'ignore', stdout: 'pipe' },
  });
  for await (const _ of child.stdout) break;
  child.kill('SIGSTOP');
  return child;
}

function requestText({ api_key }: RunningWeir, path: string, body: string): string {
  return (
    `POST ${path} HTTP/1.1\r\nhost: weir\r\nauthorization: Bearer ${api_key}\r\n` +
    `content-type: application/json\r\nanthropic-version: 2023-06-01\r\n` +
    `x-weir-cache-control: no_cache\r\n` +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}
