/** The `base_url` of a channel: each part that an address may have, right and wrong, combined. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { weirYamlJsonSchema } from '../../src/config/json-schema.ts';
import { readWeirYaml } from '../../src/config/weir-yaml.ts';

setDefaultTimeout(120_000);

/** Returns the mistakes of a file whose channel has this address, as `path: message`. */
function mistakesOf(base_url: string, env: Record<string, string> = {}): string[] {
  const good = channel('first', 'https://api.example.com/v1');
  const text = JSON.stringify({ channels: [good, channel('second', base_url)] });
  const reading = readWeirYaml(text, env);
  return 'config' in reading
    ? []
    : reading.mistakes.map(({ path, message }) => `${path}: ${message}`);
}

const channel = (id: string, base_url: string) => ({
  ...{ id, protocol: 'openai', base_url, api_key: 'secret', models: { 'gpt-4o': 'gpt-4o' } },
});

type Part = [text: string, problem?: string];

const PARTS: Record<'scheme' | 'user' | 'host' | 'port' | 'path' | 'query' | 'fragment', Part[]> = {
  scheme: [
    ['https://'],
    ['http://'],
    ['ftp://', 'must start with https:// or http://'],
    ['HTTPS://', 'must start with https:// or http://'],
    ['file:///', 'must start with https:// or http://'],
    ['', 'must start with https:// or http://'],
  ],
  user: [
    [''],
    ['operator:hunter2@', 'api_key'],
    ['hunter2@', 'api_key'],
    ['@', 'api_key'],
    [':hunter2@', 'api_key'],
  ],
  host: [
    ['api.example.com'],
    ['localhost'],
    ['127.0.0.1'],
    ['[::1]'],
    ['', 'must name a host'],
    ['a b.example', 'spaces'],
    ['api.example.com\\', 'backslashes'],
    ['[::1', 'must '],
  ],
  port: [
    [''],
    [':8443'],
    [':1'],
    [':65535'],
    [':0', 'a port from 1 to 65535'],
    [':65536', 'a port from 1 to 65535'],
    [':99999', 'a port from 1 to 65535'],
    [':https', 'a port from 1 to 65535'],
    [':', 'a port from 1 to 65535'],
    [':-1', 'a port from 1 to 65535'],
  ],
  path: [
    [''],
    ['/'],
    ['/v1'],
    ['/v1/'],
    ['/v1/models/@house'],
    ['/a b', 'spaces'],
    ['/v1\n', 'spaces'],
  ],
  query: [[''], ['?'], ['?key=hunter2'], ['?api-version=2024-10-21']].map(([text = '']) =>
    text === '' ? [text] : [text, 'must not have a query'],
  ),
  fragment: [[''], ['#', 'must not have a fragment'], ['#hunter2', 'must not have a fragment']],
};

/** Every choice of one text for each part. */
function addresses(): { text: string; problems: string[] }[] {
  return Object.values(PARTS).reduce<{ text: string; problems: string[] }[]>(
    (starts, parts) =>
      starts.flatMap((start) =>
        parts.map(([text, problem]) => ({
          text: start.text + text,
          problems: problem === undefined ? start.problems : [...start.problems, problem],
        })),
      ),
    [{ text: '', problems: [] }],
  );
}

describe('base_url', () => {
  const all = addresses();
  const right = all.filter(({ problems }) => problems.length === 0);
  const wrong = all.filter(({ problems }) => problems.length > 0);

  test('is accepted if all its parts are right', () => {
    expect(right.length).toBeGreaterThan(100);
    for (const { text } of right) expect([text, mistakesOf(text)]).toEqual([text, []]);
  });

  test('is refused if a part is wrong; the mistake says which part, and quotes nothing', () => {
    const sample = wrong.filter(
      ({ problems }, index) => problems.length === 1 || index % 997 === 0,
    );
    expect(sample.length).toBeGreaterThan(500);
    for (const { text, problems } of sample) {
      const mistakes = mistakesOf(text);
      expect([text, mistakes.length]).toEqual([text, 1]);
      const [mistake = ''] = mistakes;
      expect(mistake).toStartWith('channels.1.base_url: must ');
      expect(mistake).not.toContain('hunter2');
      expect([text, problems.some((problem) => mistake.includes(problem))]).toEqual([text, true]);
    }
  });

  test('is checked after it was read from the environment', () => {
    const mistakes = mistakesOf('env:ADDRESS', { ADDRESS: 'https://operator:hunter2@host/v1' });
    expect(mistakes).toEqual([
      'channels.1.base_url: must not have a user name or password; ' +
        'write the key in api_key, and write e.g. https://api.example.com/v1',
    ]);
  });

  test('is never refused by the JSON Schema for editors if Weir accepts it', () => {
    const schema = JSON.stringify(weirYamlJsonSchema());
    const pattern = /"base_url":\{[^}]*?"pattern":("(?:[^"\\]|\\.)*")/.exec(schema)?.[1] ?? '""';
    const matches = new RegExp(JSON.parse(pattern), 'u');
    for (const { text } of right) expect([text, matches.test(text)]).toEqual([text, true]);
  });
});
