/** A program of the tests that runs as a process of its own, and prints lines. */
import { fileURLToPath } from 'node:url';
import { dieWithParentPrefix } from '../../db/embedded/privileges.ts';
import { until } from './until.ts';

export interface ChildProgram {
  /** The lines that it printed so far. */
  readonly lines: string[];
  stop(): Promise<void>;
}

/** Starts a program of this folder and waits for its first line. */
export async function startProgram(name: string, parameters: string[]): Promise<ChildProgram> {
  const path = fileURLToPath(new URL(name, import.meta.url));
  const child = Bun.spawn([...dieWithParentPrefix(), process.execPath, path, ...parameters], {
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' },
  });
  const lines: string[] = [];
  const read = async () => {
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
    }
  };
  const reading = read();
  await until(`${name} has started`, () => lines.length > 0);
  return {
    lines,
    async stop() {
      child.kill();
      await child.exited;
      await reading;
    },
  };
}
