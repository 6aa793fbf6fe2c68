/** The real opencode, which runs without a terminal against a Weir. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { InstalledProgram } from '../../full/support/installed.ts';
import type { Count } from './stand.ts';

/** Its install script puts the program for this processor in its place. */
export const OPENCODE = ['opencode-ai', '1.18.33', { trusted: ['opencode-ai'] }] as const;
const RUN_TIMEOUT_MS = 150_000;

/** The AI SDK's packages in opencode, and where each expects its API below Weir. */
const PACKAGES = {
  '@ai-sdk/openai': '/v1',
  '@ai-sdk/openai-compatible': '/v1',
  '@ai-sdk/anthropic': '/v1',
  '@ai-sdk/google': '/v1beta',
} as const;

/** One line of `opencode run --format json`. */
export interface OpencodeEvent {
  type: string;
  sessionID: string;
  part: {
    text?: string;
    tool?: string;
    state?: { output?: string; metadata?: { output?: string; sessionId?: string } };
  };
}

export interface OpencodeRun {
  base_url: string;
  api_key: string;
  model: string;
  /** The package that calls the model. */
  npm: keyof typeof PACKAGES;
  /** USD per million tokens. */
  usd: readonly [input: number, output: number];
  /** A folder that keeps opencode's sessions. */
  home: string;
}

interface Tokens {
  input: number;
  output: number;
  reasoning: number;
  cache: { read: number; write: number };
}

/** Runs a prompt in a new session, or in the last one. Throws with the output if it fails. */
export async function runOpencode(
  program: InstalledProgram,
  run: OpencodeRun,
  prompt: string,
  more: readonly string[] = [],
): Promise<OpencodeEvent[]> {
  const model = `weir/${run.model}`;
  // Without a title, opencode requests one. It does not print the tokens of that request.
  const command = ['run', '--pure', '--format', 'json', '--title', 'A task', '-m', model, ...more];
  const printed = await opencode(program, run, command, prompt);
  return printed
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as OpencodeEvent);
}

/** Returns what opencode counted in a session: its tokens, and their price in USD. */
export async function countOf(
  program: InstalledProgram,
  run: OpencodeRun,
  session: string,
): Promise<Count & { usd: number }> {
  const printed = await opencode(program, run, ['export', session]);
  const { messages } = JSON.parse(printed.slice(printed.indexOf('{'))) as {
    messages: { info: { tokens?: Tokens; cost?: number } }[];
  };
  const count = { input: 0, output: 0, usd: 0 };
  for (const { info } of messages) {
    if (!info.tokens) continue;
    const { input, output, reasoning, cache } = info.tokens;
    count.input += input + cache.read + cache.write;
    count.output += output + reasoning;
    count.usd += info.cost ?? 0;
  }
  return count;
}

async function opencode(
  program: InstalledProgram,
  run: OpencodeRun,
  command: readonly string[],
  prompt = '',
): Promise<string> {
  const work = join(run.home, 'work');
  mkdirSync(work, { recursive: true });
  const child = Bun.spawn([program.bin('opencode'), ...command], {
    cwd: work,
    env: {
      ...{ PATH: process.env['PATH'], HOME: run.home },
      OPENCODE_CONFIG_CONTENT: JSON.stringify(configOf(run)),
      ...{ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
      ...{ OPENCODE_DISABLE_LSP_DOWNLOAD: '1', OPENCODE_DISABLE_DEFAULT_PLUGINS: '1' },
      // If opencode sends other requests to the internet, they fail at this closed port.
      ...{ HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1,localhost' },
    },
    // opencode quotes a prompt among its arguments, and takes it as it is from its input.
    ...{ stdin: Buffer.from(prompt), stdout: 'pipe', stderr: 'pipe', timeout: RUN_TIMEOUT_MS },
  });
  const [printed, complained] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(`opencode failed: ${printed}${complained}`);
  return printed;
}

function configOf({ base_url, api_key, model, npm, usd }: OpencodeRun): object {
  const [input, output] = usd;
  const limit = { context: 200_000, output: 8_000 };
  const models = { [model]: { tool_call: true, limit, cost: { input, output } } };
  const options = { baseURL: base_url + PACKAGES[npm], apiKey: api_key };
  return {
    ...{ autoupdate: false, share: 'disabled', permission: { '*': 'allow' } },
    ...{ enabled_providers: ['weir'], small_model: `weir/${model}` },
    provider: { weir: { npm, options, models } },
  };
}
