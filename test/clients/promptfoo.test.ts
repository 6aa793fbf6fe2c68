/**
 * An evaluation of promptfoo on models of three vendors, through its providers of OpenAI, Anthropic and
 * Google. All assertions pass, and promptfoo's own count of tokens is the bill.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type InstalledProgram, npmProgram, withPrograms } from '../full/support/installed.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import { expectSameBill, MODEL_NAMES, newKey, type Stand, startStand } from './support/stand.ts';

setDefaultTimeout(240_000);

const RUN_TIMEOUT_MS = 180_000;
/** promptfoo needs a newer Node than many machines have. This package is the program itself. */
const NODE = `node-${process.platform}-${process.arch}`;

const promptfoo = await npmProgram('promptfoo', '0.123.1', { beside: [`${NODE}@24.21.0`] });
let stand: Stand;
beforeAll(async () => {
  stand = await startStand();
});
afterAll(() => stand.stop());

interface Evaluation {
  results: {
    results: { provider: { label: string }; success: boolean; error?: string | null }[];
    stats: { successes: number; tokenUsage: { prompt: number; completion: number } };
  };
}

/** An evaluation of two prompts with each provider, and of an object with one. */
function evaluationOf(model: string, apiKey: string): object {
  const { base_url } = stand.weir;
  const openai = { apiBaseUrl: `${base_url}/v1`, apiKey };
  const schema = {
    ...{ type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] },
    additionalProperties: false,
  };
  const format = { type: 'json_schema', json_schema: { name: 'person', strict: true, schema } };
  const providers = [
    { id: `openai:chat:${model}`, label: 'chat', config: openai },
    { id: `openai:responses:${model}`, label: 'responses', config: openai },
    {
      ...{ id: `anthropic:messages:${model}`, label: 'anthropic' },
      config: { apiBaseUrl: base_url, apiKey, max_tokens: 100 },
    },
    // For other names, this provider requests the API before Gemini.
    ...(model.startsWith('gemini')
      ? [{ id: `google:${model}`, label: 'google', config: { apiBaseUrl: base_url, apiKey } }]
      : []),
  ];
  const object = {
    ...{ id: `openai:chat:${model}`, label: 'object' },
    config: { ...openai, response_format: format },
  };
  const words = [
    { type: 'regex', value: String.raw`^\w+( \w+)+$` },
    { type: 'javascript', value: 'output.split(" ").length > 5' },
  ];
  const text = { providers: providers.map(({ label }) => label), assert: words };
  return {
    prompts: ['Say {{word}} [[sim tokens=12]]'],
    providers: [...providers, object],
    tests: [
      { vars: { word: 'one' }, ...text },
      { vars: { word: 'two' }, ...text },
      {
        ...{ vars: { word: 'who' }, providers: ['object'] },
        assert: [{ type: 'is-json', value: schema }],
      },
    ],
  };
}

async function evaluate(program: InstalledProgram, config: object): Promise<Evaluation> {
  const home = throwawayFolder('promptfoo');
  const [given, made] = [join(home, 'given.json'), join(home, 'made.json')];
  writeFileSync(given, JSON.stringify(config));
  const node = join(program.folder, 'node_modules', NODE, 'bin', 'node');
  const options = ['--no-cache', '--no-share', '--no-table', '--no-progress-bar', '--no-write'];
  const child = Bun.spawn(
    [node, program.bin('promptfoo'), 'eval', '-c', given, '-o', made, ...options],
    {
      cwd: home,
      env: {
        ...{ PATH: process.env['PATH'], HOME: home, PROMPTFOO_CONFIG_DIR: join(home, 'config') },
        ...{ PROMPTFOO_DISABLE_TELEMETRY: '1', PROMPTFOO_DISABLE_UPDATE: '1' },
        PROMPTFOO_DISABLE_REMOTE_GENERATION: '1',
        // If promptfoo sends other requests to the internet, they fail at this closed port.
        ...{ HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1,localhost' },
      },
      ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', timeout: RUN_TIMEOUT_MS },
    },
  );
  try {
    const [printed, complained] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    await child.exited;
    const file = Bun.file(made);
    if (!(await file.exists())) throw new Error(`promptfoo failed: ${printed}${complained}`);
    return (await file.json()) as Evaluation;
  } finally {
    removeFolder(home);
  }
}

withPrograms([promptfoo], (program) => {
  test.each(MODEL_NAMES)('promptfoo evaluates %s', async (model) => {
    const { id, key } = await newKey(stand);
    const { results } = await evaluate(program, evaluationOf(model, key));
    expect(results.results.filter(({ success }) => !success)).toEqual([]);
    expect(results.stats.successes).toBe(model.startsWith('gemini') ? 9 : 7);
    const { prompt, completion } = results.stats.tokenUsage;
    await expectSameBill(stand, id, model, { input: prompt, output: completion });
  });
});
