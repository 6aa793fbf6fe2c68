import { describe, expect, test } from 'bun:test';
import { ConfigurationError } from '../../src/config/environment.ts';
import { parseWeirYaml, readWeirYaml } from '../../src/config/weir-yaml.ts';
import { fc } from '../support/property.ts';

/** The example of the design document. */
const EXAMPLE = `channels:
  - id: openai-main
    protocol: openai            # one of src/upstreams
    base_url: https://api.example.com/v1
    api_key: env:OPENAI_API_KEY
    priority: 0                 # lower first
    weight: 1
    max_concurrency: 200
    timeout_ms: 120000
    models: { gpt-4o: gpt-4o-2024-11-20 }   # public id: physical id
models:                         # adds to or overrides the built-in catalogue
  - id: gpt-4o
    category: chat
    owned_by: openai
    family: openai-chat
    price: { input_usd_per_mtok: 2.5, cached_input_usd_per_mtok: 1.25, output_usd_per_mtok: 10 }
`;
const ENV = { OPENAI_API_KEY: 'key-from-the-environment' };

/** The mistakes as `line path: message`. */
function mistakesOf(text: string, env: Record<string, string> = ENV): string[] {
  const reading = readWeirYaml(text, env);
  if ('config' in reading) return [];
  return reading.mistakes.map(({ line, path, message }) => `${line} ${path}: ${message}`);
}

const channel = (lines: string) => `channels:
  - id: main
    protocol: openai
    base_url: https://api.example.com/v1
    api_key: secret
    models: { gpt-4o: gpt-4o }
${lines}`;

describe('weir.yaml', () => {
  test('refuses a shell variable, which would be sent as the key itself', () => {
    const mistakes = (key: string) => mistakesOf(channel('').replace('secret', () => key));
    for (const key of [`\${MY_KEY}`, '$MY_KEY', `"\${MY_KEY:-none}"`]) {
      expect(mistakes(key)).toEqual([
        '5 channels.0.api_key: is a shell variable; write env:MY_KEY as the whole value',
      ]);
    }
    for (const key of ['a$b', 'a$', 'p$$w']) expect(mistakes(key)).toEqual([]);
  });

  test('takes values from the environment', () => {
    const config = parseWeirYaml(EXAMPLE, ENV);
    expect(config.channels).toEqual([
      {
        id: 'openai-main',
        protocol: 'openai',
        base_url: 'https://api.example.com/v1',
        api_key: 'key-from-the-environment',
        priority: 0,
        weight: 1,
        max_concurrency: 200,
        timeout_ms: 120_000,
        enabled: true,
        models: { 'gpt-4o': 'gpt-4o-2024-11-20' },
      },
    ]);
    expect(config.models[0]?.price?.output_usd_per_mtok).toBe(10);
  });

  test('has defaults for keys that it omits', () => {
    const [only] = parseWeirYaml(channel(''), {}).channels;
    expect(only).toMatchObject({
      priority: 0,
      weight: 1,
      max_concurrency: 200,
      timeout_ms: 120_000,
      enabled: true,
    });
    expect(parseWeirYaml('', {})).toEqual({
      channels: [],
      models: [],
      default_models: {},
      ranking: { min_samples: 20 },
      own_keys: { fee_share: 0 },
      cache: {
        enabled: true,
        hours: 24,
        max_mb: 64,
        max_entries: 50_000,
        max_total_mb: 128,
        max_shared_mb: 256,
      },
      roles: {},
    });
  });

  test('reads numbers and booleans from the environment too', () => {
    const text = channel('    max_concurrency: env:LIMIT\n    enabled: env:ON\n');
    const [only] = parseWeirYaml(text, { LIMIT: '7', ON: 'false' }).channels;
    expect(only).toMatchObject({ max_concurrency: 7, enabled: false });
  });

  test('keeps a number from the environment as text if the setting is text', () => {
    const text = channel('').replace('secret', 'env:KEY');
    expect(parseWeirYaml(text, { KEY: '12345' }).channels[0]?.api_key).toBe('12345');
  });

  test('accepts a service account as api_key: JSON with spaces and line breaks', () => {
    const text = channel('').replace('api_key: secret', 'api_key: env:KEY');
    const key = `{\n  "private_key": "-----BEGIN PRIVATE KEY-----\\nAAAA\\n"\n}\n`;
    expect(parseWeirYaml(text, { KEY: key }).channels[0]?.api_key).toBe(key);
    for (const wrong of ['two words', 'line\nend', '{ open']) {
      expect(() => parseWeirYaml(text, { KEY: wrong })).toThrow('api_key');
    }
  });

  test('accepts roles, and removes slashes at the end of base URLs', () => {
    const text = `${channel('').replace('/v1', '/v1//')}roles: { standard: 5000, guest: 10 }\n`;
    const config = parseWeirYaml(text, {});
    expect(config.roles).toEqual({ standard: 5_000, guest: 10 });
    expect(config.channels[0]?.base_url).toBe('https://api.example.com/v1');
  });
});

describe('a mistake in weir.yaml names its line', () => {
  test.each([
    ['invalid YAML', 'channels: [\n  - id: x\n', /^\d /],
    ['a list instead of a mapping', '- a\n', /^1 : must be an object/],
    [
      'an unknown key at the top',
      'roles: {}\nchanels: []\n',
      /^2 chanels: .*did you mean channels/,
    ],
    [
      'an unknown key of a channel',
      channel('    max_concurency: 5\n'),
      /^7 channels\.0\.max_concurency: .*did you mean max_concurrency/,
    ],
    [
      'an unknown key without a similar known key',
      channel('    colour: red\n'),
      /^7 channels\.0\.colour: is not known here$/,
    ],
    ['a value of the wrong type', channel('    priority: high\n'), /^7 channels\.0\.priority: /],
    ['a number that is too small', channel('    timeout_ms: 1\n'), /^7 channels\.0\.timeout_ms: /],
    [
      'an unknown protocol',
      channel('').replace('openai', 'gopher'),
      /^3 channels\.0\.protocol: must be openai, openai-responses, azure-openai, anthropic, bedrock, gemini, vertex, .* or replicate$/,
    ],
    [
      'a missing key',
      channel('').replace('    api_key: secret\n', ''),
      /^2 channels\.0\.api_key: is required$/,
    ],
    [
      'a variable that is not set',
      channel('').replace('secret', 'env:NOWHERE'),
      /^5 channels\.0\.api_key: the environment variable NOWHERE is not set$/,
    ],
    ['a key written twice', channel('    id: again\n'), /^7 : Map keys must be unique/],
    [
      'a channel declared twice',
      `${channel('')}${channel('').replace('channels:\n', '')}`,
      /^7 channels\.1\.id: main is declared twice$/,
    ],
    [
      'a model that is not declared',
      channel('').replace('{ gpt-4o: gpt-4o }', '\n      gpt-4p: x'),
      /^7 channels\.0\.models\.gpt-4p: is not a model .*did you mean gpt-4o\?$/,
    ],
    [
      'an alias of a model',
      channel('').replace('gpt-4o:', 'claude-haiku-4-5-20251001:'),
      /^6 channels\.0\.models\.claude-haiku.*did you mean claude-haiku-4-5\?$/,
    ],
    [
      'a new model without a price',
      'models:\n  - id: mine\n    category: chat\n    owned_by: me\n    family: openai-chat\n',
      /^2 models\.0\.price: is required, because the catalogue has no model mine/,
    ],
    ['an alias to nothing', 'roles: *nobody\n', /^1 : /],
  ])('%s', (_name, text, expected) => {
    const mistakes = mistakesOf(text);
    expect(mistakes.length).toBeGreaterThan(0);
    expect(mistakes[0]).toMatch(expected);
  });

  test('all mistakes are reported together, each once', () => {
    const text = channel('    priority: high\n    weight: 0\n').replace('secret', 'env:NOWHERE');
    expect(mistakesOf(text).map((mistake) => mistake.split(':')[0])).toEqual([
      '5 channels.0.api_key',
      '7 channels.0.priority',
      '8 channels.0.weight',
    ]);
  });

  test('the thrown error names the file and the line of each mistake', () => {
    const parse = () => parseWeirYaml(channel('    priority: high\n'), {}, 'conf/my.yaml');
    expect(parse).toThrow(ConfigurationError);
    expect(parse).toThrow('conf/my.yaml:7: channels.0.priority: ');
  });

  test('P5: a mistake never quotes the value, because it may be a secret', () => {
    const text = channel('    timeout_ms: env:SECRET\n').replace('secret', '"sk with spaces"');
    const reported = mistakesOf(text, { SECRET: 'hush-hush' }).join('\n');
    expect(reported).toContain('api_key');
    expect(reported).toContain('timeout_ms');
    expect(reported).not.toMatch(/hush|spaces/);
  });

  test('a file whose aliases expand to a huge value is refused', () => {
    const fold = Array.from({ length: 12 }, (_, level) => {
      const below = level === 0 ? 'x' : `*l${level - 1}`;
      return `l${level}: &l${level} [${Array(9).fill(below).join(', ')}]`;
    });
    expect(mistakesOf(fold.join('\n'))[0]).toMatch(/alias/i);
  });

  test('any text yields a configuration or mistakes with lines', () => {
    const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
    const key = fc.oneof(
      fc.constantFrom('channels', 'models', 'roles', 'id', 'price', '__proto__', 'constructor'),
      fc.string(),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        scalar,
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
      ),
    }));
    const text = fc.oneof(
      tree.map((value) => JSON.stringify(value)),
      fc.string(),
    );
    fc.assert(
      fc.property(text, (yaml) => {
        const reading = readWeirYaml(yaml, {});
        if ('config' in reading) return;
        expect(reading.mistakes.length).toBeGreaterThan(0);
        for (const { line } of reading.mistakes) expect(line).toBeGreaterThanOrEqual(1);
      }),
      { numRuns: 1_000 },
    );
  });
});
