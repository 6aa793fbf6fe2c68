/**
 * opencode on a GPT model in both of OpenAI's formats, a Claude model and a Gemini model, through the
 * AI SDK's packages: a task of several tools and a sub-agent over several turns, then the session
 * resumed. opencode's own count of tokens and their price are the bill.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { npmProgram, withPrograms } from '../full/support/installed.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import { countOf, OPENCODE, type OpencodeEvent, runOpencode } from './support/opencode.ts';
import { expectSameBill, newKey, type Stand, startStand, usdOf } from './support/stand.ts';

setDefaultTimeout(600_000);

const opencode = await npmProgram(...OPENCODE);
let stand: Stand;
beforeAll(async () => {
  stand = await startStand();
});
afterAll(() => stand.stop());

const call = (name: string, given: object) => `[[call ${name} ${JSON.stringify(given)}]]`;
const outputs = (events: OpencodeEvent[]) =>
  events.flatMap(({ type, part }) =>
    type === 'tool_use' && part.tool === 'bash' ? [part.state?.metadata?.output] : [],
  );
const saidLast = (events: OpencodeEvent[]) =>
  events.findLast(({ type }) => type === 'text')?.part.text;

const TASK = [
  'Write a file. [[sim tokens=60]]',
  call('bash', { command: 'echo lighthouse > a.txt', description: 'Write' }),
  call('task', {
    ...{ description: 'Count', subagent_type: 'general' },
    prompt: `Count. ${call('bash', { command: 'wc -c a.txt >> a.txt', description: 'Count' })}`,
  }),
  call('bash', { command: 'cat a.txt', description: 'Read' }),
].join(' ');

withPrograms([opencode], (program) => {
  test.concurrent.each([
    ['gpt-5.4', ['@ai-sdk/openai']],
    ['gpt-5.4-mini', ['@ai-sdk/openai-compatible']],
    ['claude-sonnet-4-5', ['@ai-sdk/openai-compatible', '@ai-sdk/anthropic']],
    ['gemini-2.5-flash', ['@ai-sdk/openai', '@ai-sdk/google']],
  ] as const)('opencode ends a task on %s, and resumes it', async (model, packages) => {
    const { id, key } = await newKey(stand);
    const total = { input: 0, output: 0 };
    let usd = 0;
    for (const npm of packages) {
      const home = throwawayFolder('opencode');
      const run = {
        base_url: stand.weir.base_url,
        api_key: key,
        model,
        npm,
        usd: usdOf(model),
        home,
      };
      try {
        const events = await runOpencode(program, run, TASK);
        expect([npm, ...outputs(events)]).toEqual([npm, '(no output)', 'lighthouse\n11 a.txt\n']);
        expect(saidLast(events)).toStartWith('The tool says: ');
        const next = `And now? ${call('bash', { command: 'wc -l a.txt', description: 'Count' })}`;
        const resumed = await runOpencode(program, run, next, ['--continue']);
        expect([npm, ...outputs(resumed)]).toEqual([npm, '2 a.txt\n']);
        const sub_agents = events.map(({ part }) => part.state?.metadata?.sessionId ?? '');
        const sessions = [events[0]?.sessionID ?? '', ...sub_agents];
        expect(resumed[0]?.sessionID).toBe(sessions[0] as string);
        for (const session of new Set(sessions.filter((each) => each !== ''))) {
          const counted = await countOf(program, run, session);
          total.input += counted.input;
          total.output += counted.output;
          usd += counted.usd;
        }
      } finally {
        removeFolder(home);
      }
    }
    await expectSameBill(stand, id, model, { ...total, usd });
  });
});
