/** The real Codex, which runs without a terminal against a Weir. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';
import type { InstalledProgram } from '../../full/support/installed.ts';
import type { Count } from './stand.ts';

export const CODEX = ['@openai/codex', '0.169.0'] as const;
const RUN_TIMEOUT_MS = 90_000;

/** One line of `codex exec --json`. */
export interface CodexEvent {
  type: string;
  /** The session, in the first event. */
  thread_id?: string;
  item?: {
    type: string;
    text?: string;
    exit_code?: number;
    aggregated_output?: string;
    receiver_thread_ids?: string[];
  };
  usage?: { input_tokens: number; cached_input_tokens: number; output_tokens: number };
}

export interface CodexRun {
  base_url: string;
  api_key: string;
  model: string;
  prompt: string;
  /** A folder that keeps Codex's session, so that a later run can resume it. */
  home: string;
  /** The session to resume. */
  resume?: string | undefined;
}

/** Runs the program once. Throws with its output if it fails. */
export async function runCodex({ folder }: InstalledProgram, run: CodexRun): Promise<CodexEvent[]> {
  const work = join(run.home, 'work');
  mkdirSync(work, { recursive: true });
  const provider = `{name="weir",base_url="${run.base_url}/v1",env_key="WEIR_KEY",wire_api="responses"}`;
  const child = Bun.spawn(
    [
      ...['node', join(folder, 'node_modules/@openai/codex/bin/codex.js'), 'exec'],
      ...(run.resume === undefined ? [] : ['resume', run.resume]),
      ...['--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'],
      ...['-m', run.model, '-c', 'model_provider="weir"', '-c', `model_providers.weir=${provider}`],
      run.prompt,
    ],
    {
      cwd: work,
      env: {
        ...{ PATH: process.env['PATH'], HOME: run.home, CODEX_HOME: run.home },
        ...{ WEIR_KEY: run.api_key, CI: '1' },
        // If Codex sends other requests to the internet, they fail at this closed port.
        ...{ HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1,localhost' },
      },
      ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', timeout: RUN_TIMEOUT_MS },
    },
  );
  const [printed, complained] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(`Codex failed: ${printed}${complained}`);
  return printed
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as CodexEvent);
}

interface RolloutLine {
  payload: {
    type?: string;
    info?: { total_token_usage?: { input_tokens: number; output_tokens: number } } | null;
  };
}

/** Returns what Codex counted in a session, which may be one of a sub-agent. */
export function countOf(home: string, thread_id: string): Count {
  const [file] = [...new Glob(`sessions/**/*${thread_id}.jsonl`).scanSync(home)];
  if (file === undefined) throw new Error(`Codex kept no session ${thread_id}`);
  const count = { input: 0, output: 0, searches: 0 };
  for (const line of readFileSync(join(home, file), 'utf8').trim().split('\n')) {
    const { payload } = JSON.parse(line) as RolloutLine;
    if (payload.type === 'web_search_call') count.searches += 1;
    const total = payload.type === 'token_count' ? payload.info?.total_token_usage : undefined;
    if (total) [count.input, count.output] = [total.input_tokens, total.output_tokens];
  }
  return count;
}
