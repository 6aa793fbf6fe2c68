/**
 * Codex on a GPT model in both of OpenAI's formats, a Claude model and a Gemini model: a task of several
 * tools and a sub-agent over several turns, then the session resumed. Codex's own count is the bill.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { npmProgram, withPrograms } from '../full/support/installed.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import { CODEX, type CodexEvent, countOf, runCodex } from './support/codex.ts';
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
const call = (name: string, given: object) => `[[call ${name} ${JSON.stringify(given)}]]`;
/** Waits until the sub-agent has ended, as its session says. */
const WAIT =
  "for i in $(seq 200); do grep -rq 'task[_]complete' ../sessions && break; sleep 0.2; done; cat b.txt";

withPrograms([codex], (program) => {
  test.concurrent.each(MODEL_NAMES)('Codex ends a task on %s, and resumes it', async (model) => {
    const { id, key } = await newKey(stand);
    const home = throwawayFolder('codex');
    try {
      // A model without namespaces gets a tool of a namespace under one name.
      const spawn = model === 'gpt-5.4' ? 'spawn_agent' : 'multi_agent_v1__spawn_agent';
      const run = { base_url: stand.weir.base_url, api_key: key, model, home };
      const events = await runCodex(program, {
        ...run,
        prompt: [
          'Write a file. [[sim tokens=12]]',
          call('exec_command', { cmd: 'echo lighthouse > a.txt' }),
          call('get_goal', {}),
          call(spawn, {
            message: `Count. ${call('exec_command', { cmd: 'wc -c a.txt > b.txt' })}`,
          }),
          call('exec_command', { cmd: WAIT, yield_time_ms: 30_000 }),
        ].join(' '),
      });
      expect(commands(events)).toEqual(['', '11 a.txt\n']);
      const resumed = await runCodex(program, {
        ...{ ...run, resume: events[0]?.thread_id },
        prompt: `And now? [[sim tokens=9]] ${call('exec_command', { cmd: 'wc -l a.txt' })}`,
      });
      expect(commands(resumed)).toEqual(['1 a.txt\n']);
      const [agent] = events.flatMap(({ item }) => item?.receiver_thread_ids ?? []);
      const [own, agents] = [events[0]?.thread_id, agent].map((id) => countOf(home, id ?? ''));
      // What Codex prints is the count of its own session, from its start.
      const used = resumed.findLast(({ type }) => type === 'turn.completed')?.usage;
      expect(own).toMatchObject({ input: used?.input_tokens, output: used?.output_tokens });
      const total = { input: 0, output: 0, searches: 0 };
      for (const counted of [own, agents]) {
        total.input += counted?.input ?? 0;
        total.output += counted?.output ?? 0;
        total.searches += counted?.searches ?? 0;
      }
      await expectSameBill(stand, id, model, total);
    } finally {
      removeFolder(home);
    }
  });
});
