import { describe, expect, test } from 'bun:test';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { FAMILY_PROTOCOLS } from '../../src/catalogue/families.ts';
import { demoInstallation } from '../../src/config/demo.ts';
import { installationOf, mergeModels } from '../../src/config/installation.ts';
import { parseWeirYaml } from '../../src/config/weir-yaml.ts';

const CHANNEL = `channels:
  - id: main
    protocol: openai
    base_url: https://api.example.com/v1
    api_key: secret
    models: { gpt-4o: gpt-4o-2024-11-20, mine: llama }
`;
const MINE = `models:
  - id: mine
    category: chat
    owned_by: me
    family: openai-chat
    price: { input_usd_per_mtok: 1, output_usd_per_mtok: 2 }
`;

describe('an installation', () => {
  test('serves the models of its channels, and hides all others', () => {
    const { catalogue } = installationOf(parseWeirYaml(CHANNEL + MINE, {}));
    expect(catalogue.all().map(({ id }) => id)).toEqual(['gpt-4o', 'mine']);
    expect(catalogue.find('gpt-4o-mini')).toBeUndefined();
  });

  test('gives its transport to the channels that name none', () => {
    const named = CHANNEL.replace('    models:', '    transport: own\n    models:');
    const transports = (yaml: string, transport?: 'own' | 'fetch') =>
      installationOf(parseWeirYaml(yaml + MINE, {}), transport).channels.map(
        (channel) => channel.transport,
      );
    expect(transports(CHANNEL)).toEqual(['own']);
    expect(transports(CHANNEL, 'fetch')).toEqual(['fetch']);
    expect(transports(named, 'fetch')).toEqual(['own']);
    const wrong = named.replace('transport: own', 'transport: curl');
    expect(() => transports(wrong)).toThrow('channels.0.transport');
  });

  test('takes fields that an override omits from the catalogue', () => {
    const override = `${MINE}  - id: gpt-4o\n    price: { input_usd_per_mtok: 3, output_usd_per_mtok: 9 }\n`;
    const { catalogue } = installationOf(parseWeirYaml(CHANNEL + override, {}));
    const model = catalogue.find('gpt-4o');
    expect(model).toMatchObject({ owned_by: 'openai', context_window: 128_000 });
    expect(model?.price).toMatchObject({ input: 3_000_000, output: 9_000_000 });
    // The catalogue's source does not apply to a price from the file.
    expect(model?.declaration.pricing_provenance).toBeUndefined();
  });

  test('has the built-in roles and the roles of the file', () => {
    const { roles } = installationOf(
      parseWeirYaml(`${CHANNEL}${MINE}roles: { standard: 5, guest: 7 }`, {}),
    );
    expect(roles).toEqual({ trial: 60, standard: 5, enterprise: 30_000, guest: 7 });
  });

  test('merges several overrides of the same model', () => {
    const [model] = mergeModels(builtInModels().slice(0, 1), [
      { id: 'gpt-4o', context_window: 5 },
      { id: 'gpt-4o', owned_by: 'us' },
    ]);
    expect(model).toMatchObject({ context_window: 5, owned_by: 'us' });
  });
});

describe('the published contract of a model', () => {
  const serving = (...protocols: string[]) =>
    protocols
      .map(
        (protocol) => `  - id: ${protocol}
    protocol: ${protocol}
    base_url: https://api.example.com
    api_key: secret
    models: { veo-3.1: fal-ai/veo3.1 }
`,
      )
      .join('');

  test.each([
    [['veo'], { const: true }],
    [['fal'], { type: 'boolean' }],
    [['veo', 'fal'], { type: 'boolean' }],
  ])('with channels of %j, output_audio of Veo is %j', (protocols, schema) => {
    const yaml = `channels:\n${serving(...protocols)}`;
    const model = installationOf(parseWeirYaml(yaml, {})).catalogue.find('veo-3.1');
    if (model?.kind !== 'generation') throw new Error('veo-3.1 is no generation model');
    expect(model.contract.schema.properties['output_audio']).toMatchObject({
      ...schema,
      default: true,
    });
  });
});

describe('the default model of a scene', () => {
  const serving = (models: string) => `channels:
  - id: images
    protocol: fal
    base_url: https://api.example.com
    api_key: secret
    models: { ${models} }
`;

  test('is the catalogue’s default if a channel serves it', () => {
    const { catalogue } = installationOf(
      parseWeirYaml(serving('flux-2-pro: a, flux-1.1-pro: b'), {}),
    );
    expect(catalogue.defaults).toEqual({ image: 'flux-1.1-pro' });
  });

  test('is the file’s default, before the catalogue’s', () => {
    const text = `${serving('flux-2-pro: a, flux-1.1-pro: b')}default_models: { image: flux-2-pro }\n`;
    expect(installationOf(parseWeirYaml(text, {})).catalogue.defaults.image).toBe('flux-2-pro');
  });

  test('is the first served model if there is no other default', () => {
    const { catalogue } = installationOf(parseWeirYaml(serving('ideogram-v3: a'), {}));
    expect(catalogue.defaults).toEqual({ image: 'ideogram-v3' });
  });
});

describe('the demo', () => {
  const demo = demoInstallation('http://127.0.0.1:1234');

  test('has a cache with the defaults of weir.yaml', () => {
    expect(demo.cache).toMatchObject({ enabled: true, hours: 24, max_mb: 64 });
  });

  test('serves every model of the catalogue', () => {
    const public_ids = demo.catalogue.all().map(({ id }) => id);
    expect(public_ids).toEqual(builtInModels().map(({ id }) => id));
    const served = demo.channels.flatMap((channel) => Object.keys(channel.models));
    expect(served.toSorted()).toEqual(public_ids.toSorted());
  });

  test('has one channel per protocol, each with its own account at the simulator', () => {
    const protocols = demo.channels.map(({ protocol }) => protocol);
    expect(protocols).toEqual([...new Set(protocols)]);
    for (const { id, protocol, base_url, api_key } of demo.channels) {
      expect(id).toBe(`demo-${protocol}`);
      expect(api_key).toBe(`sim-${id}`);
      expect(base_url).toStartWith('http://127.0.0.1:1234/');
    }
  });

  test('serves each model on a channel whose protocol fits its family', () => {
    for (const channel of demo.channels) {
      for (const id of Object.keys(channel.models)) {
        const family = demo.catalogue.find(id)?.family;
        expect(family && FAMILY_PROTOCOLS[family]).toContain(channel.protocol);
      }
    }
  });
});
