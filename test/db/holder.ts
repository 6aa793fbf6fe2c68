/**
 * Starts {@link file://./embedded-holder.ts} and reads its output.
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
  /** The folder of the project, if the test uses a copy of the project. */
  root?: string;
  bun?: string;
}

/** @throws with the output of the holder if its database does not start. */
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
  const output = (line === '' ? { error: 'nothing printed' } : JSON.parse(line)) as {
    error?: string;
    postgres_pid: number;
    connection: PostgresConnection;
  };
  if (output.error !== undefined) throw new Error(output.error);
  return {
    postgres_pid: output.postgres_pid,
    connection: output.connection,
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
