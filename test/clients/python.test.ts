/**
 * The Python packages of OpenAI, Anthropic and Google, and frameworks above them, on models of three
 * vendors. The packages are the judges: each program prints what its package decoded.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { pythonProgram, withPrograms } from '../full/support/installed.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import { waitForHits } from './support/cache-hits.ts';

setDefaultTimeout(240_000);

const MODELS = ['gpt-4o', 'claude-haiku-4-5', 'gemini-2.5-flash'] as const;

/** A run has more chat calls that can be repeated than this. */
const MIN_HITS = 10;

const vendors = await pythonProgram('openai', '3.57.0', [
  'anthropic==2.13.0',
  'google-genai==3.6.1',
]);
const frameworks = await pythonProgram('openai-agents', '0.24.0', [
  'pydantic-ai-slim[openai,anthropic]==2.68.0',
]);
const litellm = await pythonProgram('litellm', '1.110.2');

let weir: RunningWeir;
beforeAll(async () => {
  weir = await startWeir({ shared_database: true });
});
afterAll(() => weir.stop());

/** Runs a program of `support` with the address, a key and the model. Returns the JSON that it prints. */
async function run(
  python: string,
  program: string,
  model: string,
  { base_url, api_key } = weir,
): Promise<unknown> {
  const path = join(import.meta.dir, 'support', program);
  const child = Bun.spawn([python, path, base_url, api_key, model], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: {
      ...{ PATH: process.env['PATH'], PYTHONDONTWRITEBYTECODE: '1', HOME: '/nonexistent' },
      ...{ OPENAI_AGENTS_DISABLE_TRACING: '1', LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
    },
  });
  const [text, complaint, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(complaint.slice(-3_000));
  return JSON.parse(text.trim().split('\n').at(-1) ?? '');
}

withPrograms([vendors], (program) => {
  test.each(MODELS)('the packages of OpenAI, Anthropic and Google call %s', async (model) => {
    expect(await run(program.bin('python'), 'vendors.py', model)).toEqual({
      'openai chat': [model, 12],
      'openai stream': [true, 12],
      'openai responses': [true, 12],
      'openai tools': [1, true],
      'openai embeddings': [1_536, 1_536],
      'openai error': [400, 'model_not_found', 'model'],
      'openai async': ['stop'],
      'anthropic message': [model, 12],
      'anthropic stream': [true, 'end_turn'],
      'anthropic tools': ['tool_use', 1, true],
      'anthropic count': [true],
      'anthropic error': [400, 'invalid_request_error'],
      'google content': [12],
      'google stream': [true],
      'google tools': [true],
      'google chat': [true, true],
      'google word': [true],
      'google picture': [12],
      'google image': ['image/png', true],
      'google speech': [true, true, true],
      'google error': [400, 'INVALID_ARGUMENT'],
    });
  });
});

withPrograms([vendors], (program) => {
  test.each(MODELS)(
    'with the cache on, a second run on %s gets the same answers',
    async (model) => {
      const cached = await startWeir({ shared_database: true, env: { WEIR_CACHE: 'on' } });
      try {
        const first = await run(program.bin('python'), 'vendors.py', model, cached);
        const second = await run(program.bin('python'), 'vendors.py', model, cached);
        expect(second).toEqual(first);
        await waitForHits(cached, MIN_HITS);
      } finally {
        await cached.stop();
      }
    },
  );
});

withPrograms([frameworks], (program) => {
  test.each(MODELS)(
    'openai-agents and pydantic-ai run tools and make objects on %s',
    async (model) => {
      const found = await run(program.bin('python'), 'agent_frameworks.py', model);
      const agents = ['openai-agents chat', 'openai-agents responses'];
      const pydantic = ['pydantic-ai openai', 'pydantic-ai anthropic'];
      const names = [...agents, ...pydantic];
      const expected = [...names, ...names.map((name) => `${name} stream`)];
      expected.push(...pydantic.map((name) => `${name} object`));
      expect(found).toEqual(Object.fromEntries(expected.map((name) => [name, true])));
    },
  );
});

withPrograms([litellm], (program) => {
  test.each(MODELS)('LiteLLM calls %s as OpenAI and as Anthropic', async (model) => {
    expect(await run(program.bin('python'), 'litellm_calls.py', model)).toEqual({
      ...{ 'openai chat': 12, 'openai stream': true, 'openai tools': true, 'openai error': 400 },
      ...{ 'anthropic chat': 12, 'anthropic stream': true, 'anthropic tools': true },
      ...{ 'anthropic error': 400, embeddings: 1_536 },
    });
  });
});
