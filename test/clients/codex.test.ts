/**
 * Codex on a GPT model in both of OpenAI's formats, a Claude model and a Gemini model: a task of several
 * tools over several turns, then the session resumed. Codex's own count is the bill.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { npmProgram, withPrograms } from '../full/support/installed.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import { CODEX, type CodexEvent, runCodex } from './support/codex.ts';
import { expectSameBill, MODEL_NAMES, newKey, type Stand, startStand } from './support/stand.ts';

setDefaultTimeout(240_000);

const codex = await npmProgram(...CODEX);
let stand: Stand;
beforeAll(async () => {
  stand = await startStand();
});
afterAll(() => stand.stop());

const commands = (events: CodexEvent[]) =>
  events.flatMap(({ type, item }) =>
    type === 'item.completed' && item?.type === 'command_execution' ? [item.aggregated_output] : [],
  );
const saidLast = (events: CodexEvent[]) =>
  events.findLast(({ item }) => item?.type === 'agent_message')?.item?.text;
/** Codex offers a web search, which the simulator's GPT model always uses. */
const searchesIn = (events: CodexEvent[]) =>
  events.filter(({ type, item }) => type === 'item.completed' && item?.type === 'web_search')
    .length;
const usageOf = (events: CodexEvent[]) =>
  events.findLast(({ type }) => type === 'turn.completed')?.usage;

withPrograms([codex], (program) => {
  test.concurrent.each(MODEL_NAMES)('Codex ends a task on %s, and resumes it', async (model) => {
    const { id, key } = await newKey(stand);
    const home = throwawayFolder('codex');
    try {
      // A model without namespaces gets the tool under one name.
      const closeAgent = model === 'gpt-5.4' ? 'close_agent' : 'multi_agent_v1__close_agent';
      const run = { base_url: stand.weir.base_url, api_key: key, model, home };
      const events = await runCodex(program, {
        ...run,
        prompt:
          'Write a file. [[sim tokens=12]] [[call exec_command {"cmd":"echo lighthouse > a.txt"}]]' +
          ` [[call get_goal {}]] [[call ${closeAgent} {"target":"nobody"}]]` +
          ' [[call exec_command {"cmd":"cat a.txt"}]]',
      });
      expect(commands(events)).toEqual(['', 'lighthouse\n']);
      expect(saidLast(events)).toStartWith('The tool says: ');
      const resumed = await runCodex(program, {
        ...{ ...run, resume: true },
        prompt: 'And now? [[sim tokens=9]] [[call exec_command {"cmd":"wc -c a.txt"}]]',
      });
      expect(commands(resumed)).toEqual(['11 a.txt\n']);
      // Codex counts a resumed session from its start.
      const used = usageOf(resumed);
      await expectSameBill(stand, id, model, {
        input: used?.input_tokens ?? 0,
        output: used?.output_tokens ?? 0,
        searches: searchesIn(events) + searchesIn(resumed),
      });
    } finally {
      removeFolder(home);
    }
  });
});
