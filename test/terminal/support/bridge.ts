import { join } from 'node:path';
import { ROOT } from '../../house/sources.ts';

const bridges: Bun.Subprocess[] = [];

/** Starts `bin/weir inspector` on a free port. Returns the port. */
export async function startBridge(
  WEIR_URL: string,
  WEIR_TOKEN: string,
  ...args: string[]
): Promise<number> {
  const child = Bun.spawn([join(ROOT, 'bin/weir'), 'inspector', '--port', '0', ...args], {
    env: {
      ...{ PATH: process.env.PATH, HOME: process.env.HOME },
      ...{ WEIR_URL, WEIR_TOKEN },
    },
    ...{ stdout: 'pipe', stderr: 'inherit', stdin: 'ignore' },
  });
  bridges.push(child);
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true });
    const [, port] = /WebSocket {2}ws:\/\/localhost:(\d+)\n/.exec(text) ?? [];
    if (port !== undefined) return Number(port);
  }
  throw new Error(`the bridge printed: ${text}`);
}

export function stopBridges(): void {
  for (const bridge of bridges) bridge.kill();
}
