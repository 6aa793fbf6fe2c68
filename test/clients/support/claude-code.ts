/** The real Claude Code. It is installed on demand, and runs without a terminal against a Weir. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeFolder, throwawayFolder } from '../../support/throwaway.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const NAME = '@anthropic-ai/claude-code';
const VERSION = '2.1.330';
const RUN_TIMEOUT_MS = 90_000;

/** The result that `claude -p --output-format json` prints. */
export interface ClaudeResult {
  type: string;
  subtype: string;
  is_error: boolean;
  result: string;
  num_turns: number;
  total_cost_usd: number;
  usage: Record<string, unknown>;
  modelUsage: Record<string, ClaudeModelUsage>;
}

interface ClaudeModelUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadInputTokens: number;
  cacheCreationInputTokens: number;
  costUSD: number;
}

/** Returns the path of the program. Throws if the program cannot be installed. */
export async function installedClaude(): Promise<string> {
  const folder = join(ROOT, '.cache', 'programs', `claude-code-${VERSION}`);
  const packages = join(folder, 'node_modules', '@anthropic-ai');
  const program = join(packages, `claude-code-${process.platform}-${process.arch}`, 'claude');
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"name":"claude-code-for-tests","private":true}');
  const child = Bun.spawn([process.execPath, 'add', '--exact', `${NAME}@${VERSION}`], {
    ...{ cwd: folder, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
  });
  const said = await new Response(child.stderr).text();
  if ((await child.exited) === 0 && existsSync(program)) return program;
  rmSync(folder, { recursive: true, force: true });
  throw new Error(`${NAME}@${VERSION} cannot be installed: ${said}`);
}

export interface ClaudeRun {
  base_url: string;
  api_key: string;
  model: string;
  prompt: string;
  /** Further arguments of the program. */
  more?: string[];
  /** Further headers of each request. */
  headers?: Record<string, string>;
  /** A folder that keeps the session, so that a later run can resume it. Default: a new one. */
  home?: string;
}

/** One line of the program's stream. Its last line is the result. */
export interface ClaudeEvent {
  type: string;
  event?: { type: string; delta?: { type: string; text?: string } };
}

/**
 * Runs the program once, in its own home and its own working folder. If the run fails, throws with
 * its output.
 */
export async function runClaude(program: string, run: ClaudeRun): Promise<ClaudeResult> {
  const [result] = await claude(program, run, ['--output-format', 'json']);
  return result as ClaudeResult;
}

/** Runs the program like `runClaude`, and returns its stream: the events and the result. */
export async function streamClaude(
  program: string,
  run: ClaudeRun,
): Promise<{ events: ClaudeEvent[]; result: ClaudeResult }> {
  const partial = ['--verbose', '--include-partial-messages'];
  const lines = await claude(program, run, ['--output-format', 'stream-json', ...partial]);
  return { events: lines as ClaudeEvent[], result: lines.at(-1) as ClaudeResult };
}

async function claude(program: string, run: ClaudeRun, format: string[]): Promise<unknown[]> {
  const home = run.home ?? throwawayFolder('claude');
  const work = join(home, 'work');
  mkdirSync(work, { recursive: true });
  const child = Bun.spawn(
    [...[program, '-p', run.prompt, ...format, '--model', run.model], ...(run.more ?? [])],
    {
      cwd: work,
      env: {
        ...{ PATH: process.env['PATH'], HOME: home, CLAUDE_CONFIG_DIR: join(home, '.claude') },
        ...{ ANTHROPIC_BASE_URL: run.base_url, ANTHROPIC_API_KEY: run.api_key },
        ...(run.headers ? { ANTHROPIC_CUSTOM_HEADERS: linesOf(run.headers) } : {}),
        // Claude Code sends its own small tasks, such as titles, to this model.
        ANTHROPIC_DEFAULT_HAIKU_MODEL: run.model,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        ...{ DISABLE_TELEMETRY: '1', DISABLE_ERROR_REPORTING: '1', DISABLE_AUTOUPDATER: '1' },
        ...{ DISABLE_BUG_COMMAND: '1', DISABLE_COST_WARNINGS: '1' },
        // If Claude Code sends other requests to the internet, they fail at this closed port.
        ...{ HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1,localhost' },
      },
      ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
    },
  );
  const timer = setTimeout(() => child.kill('SIGKILL'), RUN_TIMEOUT_MS);
  try {
    const [printed, complained] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    await child.exited;
    try {
      return printed
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
    } catch {
      throw new Error(`Claude Code printed no result: ${printed}${complained}`);
    }
  } finally {
    clearTimeout(timer);
    if (run.home === undefined) removeFolder(home);
  }
}

/** Headers as Claude Code reads them: one a line. */
function linesOf(headers: Record<string, string>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}
