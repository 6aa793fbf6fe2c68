import { fileURLToPath } from 'node:url';

const SIMULATOR = fileURLToPath(new URL('../../simulator/main.ts', import.meta.url));
const READY = /listens on (http:\/\/\S+)/;

/** The simulator process, which is the demo's upstream. It ends with this process. */
export interface SimulatorProcess {
  url: string;
  stop(): Promise<void>;
}

/** Starts the simulator on a free port. Throws if the simulator does not start. */
export async function startSimulator(): Promise<SimulatorProcess> {
  const child = Bun.spawn([process.execPath, SIMULATOR, '--port', '0', '--exit-with-parent'], {
    // This pipe closes when this process ends, even after a crash. When the pipe closes, the
    // simulator ends.
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const decoder = new TextDecoder();
  let output = '';
  for await (const chunk of child.stdout) {
    output += decoder.decode(chunk, { stream: true });
    const url = READY.exec(output)?.[1];
    if (!url) continue;
    return {
      url,
      async stop() {
        child.kill('SIGTERM');
        await child.exited;
      },
    };
  }
  throw new Error(`the simulator ended before it was ready: ${output}`);
}
