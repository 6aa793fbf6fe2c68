/**
 * Starts the simulator, `bun simulator/main.ts`, as a separate process on a free port.
 */
import { fileURLToPath } from 'node:url';
import type { AccountControl } from '../../simulator/shared/accounts.ts';
import type { BookFilter, Call, Totals } from '../../simulator/shared/books.ts';
import { until } from './until.ts';

const MAIN = fileURLToPath(new URL('../../simulator/main.ts', import.meta.url));
const READY = /^Simulator listens on (http:\/\/\S+)$/m;
const READY_TIMEOUT_MS = 30_000;

interface SimulatorBooks {
  /** The calls, oldest first. */
  calls: Call[];
  totals: Totals;
}

export interface RunningSimulator {
  url: string;
  /** Base URL for OpenAI's SDK. */
  openai_url: string;
  /** Base URL for Anthropic's SDK. */
  anthropic_url: string;
  pid: number;
  books(filter?: BookFilter): Promise<SimulatorBooks>;
  /** The books after all calls of the filter have ended. */
  closedBooks(filter?: BookFilter): Promise<SimulatorBooks>;
  /** Replaces the control of an account (its key is `sim-` and the id). */
  setAccount(id: string, control: AccountControl): Promise<void>;
  /** Removes all controls and empties the books. */
  reset(): Promise<void>;
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
}

/**
 * Starts a simulator and waits until it listens. It ends with this process, even with kill -9.
 * `command` starts the simulator of another checkout.
 */
export async function startSimulator(
  command: string[] = [process.execPath, MAIN],
): Promise<RunningSimulator> {
  const child = Bun.spawn([...command, '--exit-with-parent'], {
    // The simulator ends when this pipe closes, which happens when this process ends.
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const url = await readyUrl(child.stdout).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  const books = (filter: BookFilter = {}) => {
    const query = new URLSearchParams({ ...filter });
    return json<SimulatorBooks>(`${url}/_sim/books?${query}`);
  };
  return {
    url,
    openai_url: `${url}/openai/v1`,
    anthropic_url: `${url}/anthropic`,
    pid: child.pid,
    books,
    closedBooks: (filter) =>
      until('every call in the simulator’s books has ended', async () => {
        const current = await books(filter);
        return current.totals.outcomes.running === 0 && current;
      }),
    async setAccount(id, control) {
      const body = JSON.stringify(control);
      await json(`${url}/_sim/accounts/${encodeURIComponent(id)}`, { method: 'PUT', body });
    },
    async reset() {
      await json(`${url}/_sim/accounts`, { method: 'DELETE' });
      await fetch(`${url}/_sim/books`, { method: 'DELETE' });
    },
    async stop() {
      child.kill('SIGTERM');
      await child.exited;
      return child.exitCode;
    },
    kill: (signal) => child.kill(signal),
  };
}

async function readyUrl(stdout: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stdout.getReader();
  const decoder = new TextDecoder();
  const deadline = Bun.sleep(READY_TIMEOUT_MS).then(() => ({ done: true, value: undefined }));
  let text = '';
  while (true) {
    const { done, value } = await Promise.race([reader.read(), deadline]);
    if (done) throw new Error(`the simulator does not listen; it printed: ${text}`);
    text += decoder.decode(value, { stream: true });
    const url = READY.exec(text)?.[1];
    if (url === undefined) continue;
    // Stop reading, so that further output cannot fill the pipe.
    void reader.cancel().catch(() => {});
    return url;
  }
}

async function json<T>(url: string, init?: RequestInit): Promise<T> {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${response.status} from ${url}: ${await response.text()}`);
  return (await response.json()) as T;
}
