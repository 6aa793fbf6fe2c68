import { describe, expect, test } from 'bun:test';
import { readWeirYaml } from '../../src/config/weir-yaml.ts';

/** The mistakes as `path: message`. */
function mistakesOf(text: string): string[] {
  const reading = readWeirYaml(text, {});
  if ('config' in reading) return [];
  return reading.mistakes.map(({ path, message }) => `${path}: ${message}`);
}

const channel = (protocol: string, model: string) => `channels:
  - id: main
    protocol: ${protocol}
    base_url: https://api.example.com/v1
    api_key: secret
    models: { ${model}: physical }
`;

const mine = (lines: string) => `models:
  - id: mine
    owned_by: me
${lines}`;
const CHAT = mine(`    category: chat
    family: openai-chat
    price: { input_usd_per_mtok: 1, output_usd_per_mtok: 2 }
`);

describe('a channel', () => {
  test.each([
    ['openai', 'gpt-4o'],
    ['anthropic', 'claude-haiku-4-5'],
    ['openai-images', 'gpt-image-1'],
    ['azure-images', 'gpt-image-1'],
    ['fal', 'flux-1.1-pro'],
    ['suno', 'suno_music'],
  ])('that speaks %s serves %s', (protocol, model) => {
    expect(mistakesOf(channel(protocol, model))).toEqual([]);
  });

  test.each([
    ['openai', 'gpt-image-1', 'openai-images, azure-images, fal or replicate'],
    ['suno', 'veo-3.1', 'veo, fal, replicate or runway'],
    [
      'kling',
      'gpt-4o',
      'openai, openai-responses, azure-openai, anthropic, bedrock, gemini or vertex',
    ],
  ])('that speaks %s cannot serve %s', (protocol, model, needed) => {
    const [mistake] = mistakesOf(channel(protocol, model));
    expect(mistake).toBe(
      `channels.0.models.${model}: cannot be served by a channel that speaks ${protocol}: needs ${needed}`,
    );
  });

  test('has a dialect only if it speaks openai', () => {
    const withDialect = (protocol: string, model: string) =>
      channel(protocol, model).replace('    models', '    dialect: mistral\n    models');
    expect(mistakesOf(withDialect('openai', 'gpt-4o'))).toEqual([]);
    expect(mistakesOf(withDialect('anthropic', 'claude-haiku-4-5'))).toEqual([
      'channels.0.dialect: applies only to the protocol openai, not to anthropic',
    ]);
    const [mistake] = mistakesOf(withDialect('openai', 'gpt-4o').replace('mistral', 'mistrall'));
    expect(mistake).toStartWith('channels.0.dialect: ');
  });

  test('of Azure has an api_version if its address needs one', () => {
    const azure = (address: string, version: string) =>
      channel('azure-images', 'gpt-image-1')
        .replace('https://api.example.com/v1', address)
        .replace('    models', `${version}    models`);
    const version = '    api_version: 2025-04-01-preview\n';
    const base = 'https://resource.openai.azure.com/openai';
    for (const address of [base, `${base}/`, `${base}/deployments/pictures`]) {
      expect(mistakesOf(azure(address, version))).toEqual([]);
      expect(mistakesOf(azure(address, ''))).toEqual([
        'channels.0.base_url: needs api_version; write e.g. api_version: 2025-04-01-preview',
      ]);
    }
    expect(mistakesOf(azure(`${base}/v1`, ''))).toEqual([]);
    const other = channel('openai', 'gpt-4o').replace('    models', `${version}    models`);
    expect(mistakesOf(other)).toEqual([
      'channels.0.api_version: applies only to azure-openai and azure-images, not to openai',
    ]);
  });

  test('cannot serve a model of the file whose family needs another protocol', () => {
    expect(mistakesOf(channel('suno', 'mine') + CHAT)).toEqual([
      'channels.0.models.mine: cannot be served by a channel that speaks suno: needs openai, openai-responses, azure-openai, anthropic, bedrock, gemini or vertex',
    ]);
  });
});

describe('a model', () => {
  test.each([
    ['chat', 'openai-chat', '{ input_usd_per_mtok: 1 }', 'price.output_usd_per_mtok: is required'],
    ['chat', 'openai-chat', '{ output_usd_per_mtok: 1 }', 'price.input_usd_per_mtok: is required'],
    [
      'chat',
      'openai-chat',
      '{ input_usd_per_mtok: 1, output_usd_per_mtok: 2, usd_per_image: 1 }',
      'price.usd_per_image: is not a price of a chat model',
    ],
    ['image', 'flux-image', '{}', 'price: needs usd_per_image or usd_per_request'],
    [
      'image',
      'flux-image',
      '{ usd_per_image: 1, usd_per_request: 1 }',
      'price: needs only one of usd_per_image and usd_per_request',
    ],
    ['video', 'veo-video', '{ usd_per_song: 1 }', 'price: needs usd_per_second or usd_per_request'],
    [
      'image',
      'token-priced-image',
      '{ output_usd_per_mtok: 1 }',
      'price.input_usd_per_mtok: is required',
    ],
    [
      'video',
      'flux-image',
      '{ usd_per_image: 1 }',
      'category: must be image, the category of flux-image',
    ],
    [
      'chat',
      'veo-video',
      '{ usd_per_second: 1 }',
      'category: must be video, the category of veo-video',
    ],
  ])('of category %s and family %s with the price %s', (category, family, price, mistake) => {
    const text = mine(`    category: ${category}\n    family: ${family}\n    price: ${price}\n`);
    expect(mistakesOf(text)).toEqual([`models.0.${mistake}`]);
  });

  test('of chat cannot have offers', () => {
    expect(mistakesOf(`${CHAT}    offers: { max_images: 2 }\n`)).toEqual([
      'models.0.offers: is allowed only for image, video, music, 3d and audio models',
    ]);
  });

  test('can offer only parameters that exist', () => {
    const text = mine(`    category: video
    family: veo-video
    price: { usd_per_second: 1 }
    offers: { parameters: [seed, sead] }
`);
    expect(mistakesOf(text)).toEqual([
      'models.0.offers.parameters.1: is not a parameter of videos; did you mean seed?',
    ]);
  });

  test('of the catalogue may be overridden in part', () => {
    expect(mistakesOf('models:\n  - id: veo-3.1\n    price: { usd_per_second: 1 }\n')).toEqual([]);
    expect(mistakesOf('models:\n  - id: veo-3.1\n    price: { usd_per_image: 1 }\n')).toEqual([
      'models.0.price: needs usd_per_second or usd_per_request',
    ]);
  });
});

describe('a default model', () => {
  test('must be served and of its scene; an alias is allowed', () => {
    const flux = channel('bfl', 'flux-2-pro');
    expect(mistakesOf(`${flux}default_models: { image: flux-2-pro }\n`)).toEqual([]);
    expect(mistakesOf(`${flux}default_models: { image: flux-2 }\n`)).toEqual([]);
    expect(mistakesOf(`${flux}default_models: { video: flux-2-pro }\n`)).toEqual([
      'default_models.video: flux-2-pro does not make video',
    ]);
    expect(mistakesOf(`${flux}default_models: { image: flux-1.1-pro }\n`)).toEqual([
      'default_models.image: no channel serves flux-1.1-pro',
    ]);
  });
});
