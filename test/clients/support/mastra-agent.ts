/**
 * Runs agents of Mastra on one model, through Mastra's own client in both formats of OpenAI and through
 * the AI SDK's packages. Prints what Mastra decoded, and the tokens that it counted.
 *
 *     bun mastra-agent.ts FOLDER BASE_URL API_KEY MODEL
 */
import { join } from 'node:path';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { z } from 'zod';

interface Usage {
  inputTokens?: number;
  outputTokens?: number;
}

interface Output {
  text: string;
  totalUsage: Usage;
  object?: unknown;
  steps: unknown[];
}

/** The part of Mastra that this program uses. */
interface Agent {
  generate(prompt: string, options: object): Promise<Output>;
  stream(
    prompt: string,
    options: object,
  ): Promise<{ textStream: AsyncIterable<string>; totalUsage: Promise<Usage> }>;
}
interface AgentModule {
  Agent: new (options: object) => Agent;
}
interface ToolModule {
  createTool(options: object): object;
}

const [folder = '', base_url = '', apiKey = '', model = ''] = process.argv.slice(2);
const dist = join(folder, 'node_modules', '@mastra', 'core', 'dist');
const { Agent } = (await import(join(dist, 'agent', 'index.js'))) as AgentModule;
const { createTool } = (await import(join(dist, 'tools', 'index.js'))) as ToolModule;

const url = `${base_url}/v1`;
const MODELS: Record<string, unknown> = {
  chat: { id: `weir/${model}`, url, apiKey },
  responses: { id: `weir/${model}`, url, apiKey, api: 'responses' },
  anthropic: createAnthropic({ baseURL: url, apiKey })(model),
  google: createGoogle({ baseURL: `${base_url}/v1beta`, apiKey })(model),
};

/** Mastra's own client requests no usage of chat streams. This one does. */
const counted = createOpenAICompatible({ name: 'weir', baseURL: url, apiKey, includeUsage: true })(
  model,
);

const schema = z.object({ age: z.number(), name: z.string() });
const TASK =
  'The way? [[sim tokens=40]] [[call locate {"city":"Bern"}]] [[call route {"from":"Bern","legs":2}]]';

const found: Record<string, unknown> = {};
const count = { input: 0, output: 0 };
function add({ inputTokens, outputTokens }: Usage): void {
  count.input += inputTokens ?? 0;
  count.output += outputTokens ?? 0;
}

for (const [name, way] of Object.entries(MODELS)) {
  const called: string[] = [];
  const locate = createTool({
    ...{
      id: 'locate',
      description: 'Where a city is',
      inputSchema: z.object({ city: z.string() }),
    },
    execute: async ({ city }: { city: string }) => {
      called.push(city);
      return { latitude: 46.9 };
    },
  });
  const route = createTool({
    ...{ id: 'route', description: 'The way from a city' },
    inputSchema: z.object({ from: z.string(), legs: z.number() }),
    execute: async ({ from, legs }: { from: string; legs: number }) => {
      called.push(`${from} ${legs}`);
      return 'Along the river';
    },
  });
  const guide = { id: 'guide', name: 'Guide', instructions: 'Help.', tools: { locate, route } };
  const agent = new Agent({ ...guide, model: way });
  const streamer = name === 'chat' ? new Agent({ ...guide, model: counted }) : agent;
  const plain = new Agent({ id: 'plain', name: 'Plain', instructions: 'Help.', model: way });

  const whole = await agent.generate(TASK, { maxSteps: 5 });
  add(whole.totalUsage);
  found[`${name} tools`] = [whole.steps.length, ...called, whole.text.includes('river')];

  const stream = await streamer.stream(TASK, { maxSteps: 5 });
  let text = '';
  for await (const delta of stream.textStream) text += delta;
  add(await stream.totalUsage);
  found[`${name} stream`] = [called.length, text.includes('river')];

  const made = await plain.generate('Someone', { structuredOutput: { schema } });
  add(made.totalUsage);
  found[`${name} object`] = schema.safeParse(made.object).success;
}
console.log(JSON.stringify({ found, count }));
// Mastra keeps timers.
process.exit(0);
