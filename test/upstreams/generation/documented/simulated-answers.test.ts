/**
 * No package that can call the simulator speaks for these providers. So each member of the simulator's answers must be
 * in a documented answer of the provider, with the same type of value.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { GenerationProtocolName } from '../../../../src/protocols/names.ts';
import { type RunningSimulator, startSimulator } from '../../../support/simulator.ts';
import { DOCUMENTED_ANSWERS } from './all.ts';

setDefaultTimeout(60_000);

let simulator: RunningSimulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.stop());

/** Members that other sources document: the names of the provider's own types. */
const ALSO: Partial<Record<GenerationProtocolName, readonly string[]>> = {
  // kling-api@1.0.0: dist/types.d.ts, TaskInfo.
  kling: ['data.task_info.external_task_id: string'],
  // novicezk/midjourney-proxy: support/Task.java.
  midjourney: ['state: string', 'progress: string'],
};

/** Returns the path and the type of each value, e.g. `data[].url: string`. */
function shapesIn(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => shapesIn(each, `${path}[]`));
  // A null stands for a value that does not exist yet.
  if (value === null) return [];
  if (typeof value !== 'object') return [`${path}: ${typeof value}`];
  return Object.entries(value).flatMap(([name, each]) =>
    shapesIn(each, path === '' ? name : `${path}.${name}`),
  );
}

function documentedShapes(protocol: GenerationProtocolName): Set<string> {
  const bodies = DOCUMENTED_ANSWERS.filter((each) => each.protocol === protocol).flatMap(
    ({ steps }) => steps.map(({ body }) => body),
  );
  return new Set([...bodies.flatMap((body) => shapesIn(body)), ...(ALSO[protocol] ?? [])]);
}

interface Asked {
  readonly protocol: GenerationProtocolName;
  readonly headers: Readonly<Record<string, string>>;
  readonly path: string;
  readonly body: Readonly<Record<string, string>>;
  readonly form?: boolean;
  /** Returns the path of the poll; absent if the answer is the result. */
  readonly poll?: (answer: Readonly<Record<string, unknown>>) => string;
}

const KEY = 'sim-shapes';
const bearer = { authorization: `Bearer ${KEY}` };
const prompt = 'A lighthouse [[sim task_ms=80]]';
const dataId = ({ data }: Readonly<Record<string, unknown>>) => String(data);
const KLING = '/kling/v1/videos/text2video';

const ASKED: readonly Asked[] = [
  {
    ...{ protocol: 'kling', headers: bearer, path: KLING },
    body: { model_name: 'kling-v3', prompt, duration: '5', external_task_id: 'own-1' },
    poll: ({ data }) => `${KLING}/${(data as { task_id: string }).task_id}`,
  },
  {
    ...{ protocol: 'ideogram', headers: { 'api-key': KEY }, form: true, body: { prompt } },
    path: '/ideogram/v1/ideogram-v3/generate',
  },
  {
    ...{ protocol: 'stability', headers: { ...bearer, accept: 'application/json' }, form: true },
    ...{ path: '/stability/v2beta/stable-image/generate/sd3', body: { prompt } },
  },
  {
    ...{ protocol: 'midjourney', headers: { 'mj-api-secret': KEY } },
    ...{ path: '/midjourney/mj/submit/imagine', body: { prompt, state: 'own-1' } },
    poll: ({ result }) => `/midjourney/mj/task/${result}/fetch`,
  },
  {
    ...{ protocol: 'suno', headers: bearer, path: '/suno/suno/submit/music' },
    body: { gpt_description_prompt: prompt, mv: 'chirp-v4' },
    poll: (answer) => `/suno/suno/fetch/${dataId(answer)}`,
  },
  {
    ...{ protocol: 'suno', headers: bearer, path: '/suno/suno/submit/lyrics', body: { prompt } },
    poll: (answer) => `/suno/suno/fetch/${dataId(answer)}`,
  },
];

/** Returns all answers of the simulator to a request and to the polls until its end. */
async function answersTo({ headers, path, body, form, poll }: Asked): Promise<unknown[]> {
  const fields = new FormData();
  for (const [name, value] of Object.entries(body)) fields.set(name, value);
  const response = await fetch(simulator.url + path, {
    ...{ method: 'POST', headers, body: form ? fields : JSON.stringify(body) },
  });
  expect(response.status).toBe(200);
  const first = (await response.json()) as Record<string, unknown>;
  if (!poll) return [first];
  const answers: unknown[] = [first];
  for (let polls = 0; polls < 8; polls += 1) {
    await Bun.sleep(25);
    answers.push(await fetch(simulator.url + poll(first), { headers }).then((each) => each.json()));
  }
  return answers;
}

describe('the simulator answers with documented members', () => {
  test.each(ASKED.map((each) => [each.protocol, each.path, each] as const))(
    '%s %s',
    async (protocol, _, asked) => {
      const answers = await answersTo(asked);
      const documented = documentedShapes(protocol);
      const shapes = new Set(answers.flatMap((each) => shapesIn(each)));
      expect(shapes.size).toBeGreaterThan(2);
      expect([...shapes].filter((each) => !documented.has(each))).toEqual([]);
    },
  );
});
