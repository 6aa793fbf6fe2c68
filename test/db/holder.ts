/**
 * Starts {@link file://./embedded-holder.ts} and reads what it says.
 */
import { join } from 'node:path';
import type { PostgresConnection } from '../../db/client.ts';

export interface Holder {
  postgres_pid: number;
  connection: PostgresConnection;
  kill(signal: NodeJS.Signals): void;
  exited: Promise<number>;
}

export interface HolderOptions {
  prefix?: string[];
  env?: Record<string, string>;
  /** The project's folder, where the test runs from a copy of it. */
  root?: string;
  bun?: string;
}

/** @throws with what the holder printed when its database did not start. */
export async function startHolder(data_dir: string, options: HolderOptions = {}): Promise<Holder> {
  const script =
    options.root === undefined
      ? join(import.meta.dir, 'embedded-holder.ts')
      : join(options.root, 'test/db/embedded-holder.ts');
  const child = Bun.spawn(
    [...(options.prefix ?? []), options.bun ?? process.execPath, script, data_dir],
    {
      cwd: '/',
      env: { ...process.env, ...options.env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
    },
  );
  const line = await firstLine(child.stdout);
  const said = (line === '' ? { error: 'nothing printed' } : JSON.parse(line)) as {
    error?: string;
    postgres_pid: number;
    connection: PostgresConnection;
  };
  if (said.error !== undefined) throw new Error(said.error);
  return {
    postgres_pid: said.postgres_pid,
    connection: said.connection,
    kill: (signal) => child.kill(signal),
    exited: child.exited,
  };
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes('\n')) break;
  }
  return text.trim();
}
