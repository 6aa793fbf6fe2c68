/**
 * Each model's published contract is true: every parameter and operation that it lists is accepted, and
 * every other parameter of its routes is refused by name (or is on the published list of what is left
 * out). Checked by calling a real Weir with the demo catalogue and the simulator.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import pLimit from 'p-limit';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { directContract } from '../../src/catalogue/contracts/direct.ts';
import { isDirectFamily, isGenerationFamily } from '../../src/catalogue/families.ts';
import { isLeftOut } from '../../src/catalogue/left-out.ts';
import { generationModel, refusal } from '../support/contracts.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(120_000);

let weir: RunningWeir;
beforeAll(async () => {
  weir = await startWeir({ shared_database: true });
});
afterAll(() => weir.stop());

const PARALLEL_CALLS = 16;
const headers = () => ({ authorization: `Bearer ${weir.api_key}` });

interface Property {
  readonly const?: unknown;
  readonly maximum?: number;
  readonly anyOf?: readonly Property[];
  readonly 'x-operations'?: readonly string[];
}
interface PublicModel {
  readonly id: string;
  readonly weir: {
    readonly supported_operations: readonly string[];
    readonly pricing_provenance: Readonly<Record<string, string>> | null;
    readonly public_contract?: {
      readonly properties: Readonly<Record<string, Property>>;
      readonly required?: readonly string[];
      readonly rules: readonly string[];
    };
  };
}

async function modelOf(id: string): Promise<PublicModel> {
  const response = await fetch(`${weir.base_url}/v1/models/${id}`, { headers: headers() });
  expect(response.status).toBe(200);
  return (await response.json()) as PublicModel;
}

/** The route of each operation of a direct call, and a minimal valid body. */
const ROUTES: Readonly<Record<string, readonly [path: string, body: object]>> = {
  embed: ['/v1/embeddings', { input: 'Hello' }],
  transcribe: ['/v1/audio/transcriptions', {}],
  'translate-to-english': ['/v1/audio/translations', {}],
  'text-to-speech': ['/v1/audio/speech', { voice: 'Kore', input: 'Hello' }],
  rerank: ['/v1/rerank', { query: 'a', documents: ['a', 'b'] }],
  translate: ['/v1/translations', { text: 'Hello', target_lang: 'DE' }],
};

/** Valid values of the parameters that have no list of values. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  input: ['Good night'],
  encoding_format: ['float', 'base64', null],
  user: ['u'],
  voice: ['Puck'],
  instructions: ['Slowly'],
  speed: [0.25, 4],
  prompt: ['About rain'],
  temperature: [0, 1],
  language: ['de'],
  'timestamp_granularities[]': [['word'], ['segment'], ['word', 'segment']],
  query: ['rain'],
  documents: [['a'], [{ text: 'a' }]],
  top_n: [1, 1_000],
  return_documents: [true, false],
  max_tokens_per_doc: [1, 32_768],
  text: ['a', ['a', 'b']],
  target_lang: ['DE', 'pt-BR'],
  source_lang: ['EN'],
  context: ['A letter'],
};
/** Members that a parameter needs beside it. */
const BESIDE: Readonly<Record<string, object>> = {
  'timestamp_granularities[]': { response_format: 'verbose_json' },
};
/** Parameters that no model has. OpenAI's newer audio models have the first ones. */
const FOREIGN: Readonly<Record<string, unknown>> = {
  ...{ chunking_strategy: 'auto', keywords: 'a', languages: 'de', stream: true, input_type: 'x' },
  ...{ task_type: 'RETRIEVAL_QUERY', truncate: 'END', tag_handling: 'xml', rank_fields: ['a'] },
};

/** The values at the ends of a property, and the words that it lists. */
function valuesOf(name: string, property: Property): readonly unknown[] {
  const all = property.anyOf ?? [property];
  const words = all.flatMap((each) => each.const ?? []);
  if (words.length > 0) return words;
  const [maximum] = all.flatMap((each) => each.maximum ?? []);
  return name === 'dimensions' ? [1, maximum] : (VALUES[name] ?? []);
}

const models = builtInModels();
const direct = models.flatMap(({ family, ...model }) =>
  isDirectFamily(family) ? [{ ...model, family, contract: directContract(family, model) }] : [],
);
const cells = direct.flatMap(({ id, contract }) =>
  contract.operations.map((operation) => [id, operation] as const),
);

/** All parameters of all models of an operation. */
const namesOf = (operation: string) =>
  new Set(
    direct
      .filter(({ contract }) => contract.operations.includes(operation))
      .flatMap(({ contract }) => Object.keys(contract.schema.properties)),
  );

async function call(path: string, body: object): Promise<{ status: number; param: string }> {
  const isForm = path.startsWith('/v1/audio/tra');
  const response = await fetch(weir.base_url + path, {
    method: 'POST',
    headers: { ...headers(), ...(isForm ? {} : { 'content-type': 'application/json' }) },
    body: isForm ? formOf(body) : JSON.stringify(body),
  });
  const { status } = response;
  if (status === 200) {
    await response.arrayBuffer();
    return { status, param: '' };
  }
  const { error } = (await response.json()) as { error?: { param?: string } };
  return { status, param: error?.param ?? '' };
}

function formOf(body: object): FormData {
  const form = new FormData();
  form.set('file', new File([new Uint8Array(2_000)], 'a.wav', { type: 'audio/wav' }));
  for (const [name, value] of Object.entries(body)) {
    for (const each of [value].flat()) form.append(name, String(each));
  }
  return form;
}

describe.each(cells)('the contract of %s, operation %s', (id, operation) => {
  const [path, minimal] = ROUTES[operation] as [string, object];

  test('lists what is accepted, and nothing else is taken', async () => {
    const { weir: published } = await modelOf(id);
    expect(published.supported_operations).toContain(operation);
    const properties = Object.entries(published.public_contract?.properties ?? {}).filter(
      ([, property]) => property['x-operations']?.includes(operation) ?? true,
    );
    const known = new Set(properties.map(([name]) => name));
    const required = Object.fromEntries(
      properties
        .filter(([name]) => published.public_contract?.required?.includes(name))
        .filter(([name]) => !(name in minimal) && name !== 'file' && name !== 'model')
        .map(([name, property]) => [name, valuesOf(name, property)[0]]),
    );
    const body = { ...minimal, ...required, model: id };
    expect(await call(path, body)).toEqual({ status: 200, param: '' });

    const limit = pLimit(PARALLEL_CALLS);
    const inside = properties
      .filter(([name]) => name !== 'model' && name !== 'file')
      .flatMap(([name, property]) => valuesOf(name, property).map((value) => ({ name, value })));
    const untried = properties.filter(([name]) => !inside.some((each) => each.name === name));
    expect(
      untried.map(([name]) => name).filter((name) => !['model', 'file'].includes(name)),
    ).toEqual([]);
    const refused = await Promise.all(
      inside.map(({ name, value }) =>
        limit(async () => {
          const answer = await call(path, { ...body, ...BESIDE[name], [name]: value });
          return answer.status === 200 ? [] : [{ name, value, ...answer }];
        }),
      ),
    );
    expect(refused.flat()).toEqual([]);

    const others = Object.entries({
      ...Object.fromEntries([...namesOf(operation)].map((name) => [name, foreignValue(name)])),
      ...FOREIGN,
    }).filter(([name]) => !known.has(name));
    const form = id.startsWith('gemini') ? 'gemini' : undefined;
    const taken = await Promise.all(
      others.map(([name, value]) =>
        limit(async () => {
          if (isLeftOut(path, name, value, form)) return [];
          const answer = await call(path, { ...body, ...BESIDE[name], [name]: value });
          return answer.status === 400 && answer.param === name ? [] : [{ name, value, ...answer }];
        }),
      ),
    );
    expect(taken.flat()).toEqual([]);
  });
});

/** OpenAI docs: Create speech, Embeddings. Gemini API docs: Speech generation, Embeddings. */
test.each([
  ['tts-1', 'text-to-speech', 'instructions', 'Slowly'],
  ['tts-1-hd', 'text-to-speech', 'instructions', 'Slowly'],
  ['gemini-2.5-flash-preview-tts', 'text-to-speech', 'speed', 2],
  ['gemini-2.5-flash-preview-tts', 'text-to-speech', 'response_format', 'mp3'],
  ['text-embedding-ada-002', 'embed', 'dimensions', 1_536],
  ['gemini-embedding-001', 'embed', 'input', [[1, 2]]],
])('the contract of %s, operation %s, has no %s = %j', async (id, operation, name, value) => {
  const [path, minimal] = ROUTES[operation] as [string, object];
  const raw = { response_format: 'wav', ...minimal };
  const body = operation === 'text-to-speech' ? raw : minimal;
  const { status, param } = await call(path, { ...body, model: id, [name]: value });
  expect({ status, param: param.split('.')[0] }).toEqual({ status: 400, param: name });
});

/** A value that some model of the operation takes. */
const foreignValue = (name: string) => (name === 'dimensions' ? 8 : (VALUES[name]?.[0] ?? 'x'));

describe('the published operations of the models that make images, videos and more', () => {
  const prompt = 'a lighthouse';
  const picture = 'https://example.com/a.png';
  const film = 'https://example.com/a.mp4';
  /** A body of each operation. */
  const BODIES: Readonly<Record<string, object>> = {
    'text-to-image': { prompt },
    'image-to-image': { prompt, image: picture },
    'text-to-music': { prompt, action: 'MUSIC' },
    'text-to-lyrics': { prompt, action: 'LYRICS' },
    'text-to-3d': { prompt },
    'image-to-3d': { image_url: picture },
    'text-to-audio': { prompt },
    'text-to-video': { prompt },
    'image-to-video': { prompt, image_url: picture },
    'start-end-to-video': { prompt, start_image: picture, end_image: picture },
    'reference-to-video': { prompt, reference_images: [picture] },
    'video-to-video': { prompt, video_url: film },
    'motion-control': { prompt, image_url: picture, video_url: film },
  };
  const makers = models.filter(({ family }) => isGenerationFamily(family));

  test.each(makers.map(({ id, category }) => [id, category] as const))(
    '%s accepts its operations, and no other',
    async (id, category) => {
      const { weir: published } = await modelOf(id);
      const accepted = Object.keys(BODIES).filter((operation) => {
        if (!sceneOf(operation).includes(category)) return false;
        const { contract } = generationModel(id);
        if (category === 'video') return contract.operations.some((each) => each === operation);
        try {
          contract.accept({ ...BODIES[operation] });
          return true;
        } catch {
          return false;
        }
      });
      expect(published.supported_operations.toSorted()).toEqual(accepted.toSorted());
    },
  );

  /** The categories whose models may have an operation. */
  function sceneOf(operation: string): readonly string[] {
    const made = operation.split('-to-')[1] ?? 'video';
    return made === 'lyrics' ? ['music'] : [made === 'english' ? 'stt' : made];
  }

  test('an operation that a video model does not list is refused by name', () => {
    const { details } = refusal('runway-gen4-turbo', {
      ...{ prompt, operation: 'reference-to-video', reference_images: [picture] },
    });
    expect(details.param).toMatch(/operation|reference_images/);
  });
});

/** Words for the makers of the catalogue, not for their customers. */
const INTERNAL =
  /unverified|recall|resell|relay|kie\.ai|fal\b|fal\.ai|litellm|pydantic|genai-prices|docs:/i;

test('pricing_provenance tells a client where a price comes from, and no internal doubt', async () => {
  const limit = pLimit(PARALLEL_CALLS);
  const wrong = await Promise.all(
    models.map(({ id }) =>
      limit(async () => {
        const { weir: published } = await modelOf(id);
        const { source = '', date = '', ...more } = published.pricing_provenance ?? {};
        const isPlain = /^((\w+ )+price list|Set by Weir)/.test(source);
        const isRight =
          isPlain && !INTERNAL.test(source) && /^\d{4}-\d\d-\d\d$/.test(date) && !('note' in more);
        return isRight ? [] : [{ id, source, date, more }];
      }),
    ),
  );
  expect(wrong.flat()).toEqual([]);
});
