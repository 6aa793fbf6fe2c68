/**
 * Claude Code on a GPT model in both of OpenAI's formats, a Claude model and a Gemini model: a task of
 * several tools and a sub-agent over several turns, then the session resumed and streamed. Claude Code's
 * own count of tokens is the bill.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import {
  type ClaudeResult,
  installedClaude,
  runClaude,
  streamClaude,
} from './support/claude-code.ts';
import {
  type Count,
  expectSameBill,
  MODEL_NAMES,
  newKey,
  type Stand,
  startStand,
} from './support/stand.ts';

setDefaultTimeout(240_000);

let program: string;
let stand: Stand;
beforeAll(async () => {
  [program, stand] = await Promise.all([installedClaude(), startStand()]);
});
afterAll(() => stand.stop());

const call = (name: string, given: object) => `[[call ${name} ${JSON.stringify(given)}]]`;

function counted({ modelUsage }: ClaudeResult): Count {
  const count = { input: 0, output: 0 };
  for (const used of Object.values(modelUsage)) {
    count.input += used.inputTokens + used.cacheReadInputTokens + used.cacheCreationInputTokens;
    count.output += used.outputTokens;
  }
  return count;
}

test.concurrent.each(MODEL_NAMES)(
  'Claude Code ends a task on %s, and resumes it',
  async (model) => {
    const { id, key } = await newKey(stand);
    const home = throwawayFolder('claude-session');
    try {
      const run = { base_url: stand.weir.base_url, api_key: key, model, home };
      const more = ['--allowedTools', 'Bash', 'Write', 'Read', 'Agent'];
      const result = await runClaude(program, {
        ...{ ...run, more },
        prompt: [
          'Write a file.',
          call('Bash', { command: 'echo lighthouse > a.txt', description: 'Write' }),
          call('Agent', {
            ...{ description: 'Count', subagent_type: 'general-purpose', run_in_background: false },
            prompt: `Count. [[sim tokens=8]] ${call('Bash', { command: 'wc -c a.txt >> a.txt' })}`,
          }),
          call('Bash', { command: 'cat a.txt', description: 'Read' }),
          '[[sim tokens=60]]',
        ].join(' '),
      });
      expect(result).toMatchObject({ subtype: 'success', is_error: false });
      expect(result.num_turns).toBe(4);
      expect(result.result).toMatch(/^The tool says: .*lighthouse.*11 a\.txt/s);
      const { events, result: resumed } = await streamClaude(program, {
        ...{ ...run, more: ['--continue', ...more] },
        prompt: `And now? ${call('Bash', { command: 'wc -l a.txt', description: 'Count' })} [[sim tokens=30]]`,
      });
      expect(resumed.result).toMatch(/^The tool says: .*2 a\.txt/s);
      const pieces = events.flatMap(({ event }) => event?.delta?.text ?? []);
      expect(pieces.length).toBeGreaterThan(5);
      expect(pieces.join('')).toBe(resumed.result);
      // Claude Code counts a resumed session from its start.
      await expectSameBill(stand, id, model, counted(resumed));
    } finally {
      removeFolder(home);
    }
  },
);
