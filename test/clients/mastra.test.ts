/**
 * Agents of Mastra on models of three vendors: tools over several turns, streams and structured output,
 * in both formats of OpenAI, Anthropic's and Google's. Mastra's own count of tokens is the bill.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { fileURLToPath } from 'node:url';
import { npmProgram, withPrograms } from '../full/support/installed.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import {
  type Count,
  expectSameBill,
  MODEL_NAMES,
  newKey,
  type Stand,
  startStand,
} from './support/stand.ts';

setDefaultTimeout(240_000);

const RUN_TIMEOUT_MS = 120_000;
const PROGRAM = fileURLToPath(new URL('support/mastra-agent.ts', import.meta.url));

const mastra = await npmProgram('@mastra/core', '1.71.0');
let stand: Stand;
beforeAll(async () => {
  stand = await startStand();
});
afterAll(() => stand.stop());

interface Printed {
  found: Record<string, unknown>;
  count: Count;
}

/** Runs the agents in a process of their own. Throws with the output if they fail. */
async function run(folder: string, key: string, model: string): Promise<Printed> {
  const home = throwawayFolder('mastra');
  const child = Bun.spawn([process.execPath, PROGRAM, folder, stand.weir.base_url, key, model], {
    cwd: home,
    env: {
      ...{ PATH: process.env['PATH'], HOME: home },
      // If Mastra sends other requests to the internet, they fail at this closed port.
      ...{ HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1,localhost' },
    },
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', timeout: RUN_TIMEOUT_MS },
  });
  try {
    const [printed, complained] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    if ((await child.exited) !== 0) throw new Error(`Mastra failed: ${printed}${complained}`);
    return JSON.parse(printed.trim().split('\n').at(-1) ?? '') as Printed;
  } finally {
    removeFolder(home);
  }
}

withPrograms([mastra], ({ folder }) => {
  test.each(MODEL_NAMES)('agents of Mastra run on %s', async (model) => {
    const { id, key } = await newKey(stand);
    const { found, count } = await run(folder, key, model);
    const expected = ['chat', 'responses', 'anthropic', 'google'].flatMap((way) => [
      [`${way} tools`, [3, 'Bern', 'Bern 2', true]],
      [`${way} stream`, [4, true]],
      [`${way} object`, true],
    ]);
    expect(found).toEqual(Object.fromEntries(expected));
    await expectSameBill(stand, id, model, count);
  });
});
