/**
 * The first steps of a new operator, taken by the programs that an operator has: `sh` and `curl` run
 * what Weir prints, and `sh` shows which values of a file are shell variables (POSIX: Parameter
 * expansion).
 */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseWeirYaml } from '../../src/config/weir-yaml.ts';
import { type RunningWeir, startWeir, type WeirOptions } from '../support/weir.ts';
import { startUpstream } from '../upstreams/upstream.ts';

setDefaultTimeout(60_000);

const upstream = startUpstream();
upstream.answer = () =>
  Response.json({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'c', stop_reason: 'end_turn' },
    ...{ content: [{ type: 'text', text: 'Hi' }], usage: { input_tokens: 3, output_tokens: 1 } },
  });
const running: RunningWeir[] = [];
afterAll(async () => {
  for (const weir of running) await weir.stop();
  await upstream.stop();
});

async function started(options: WeirOptions): Promise<RunningWeir> {
  const weir = await startWeir({ shared_database: true, ...options });
  running.push(weir);
  return weir;
}

/** Runs a text as a shell does, and returns what it prints. */
async function sh(text: string, env: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn(['sh', '-c', text], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdin: 'ignore',
    stderr: 'ignore',
  });
  return await child.stdout.text();
}

/** The command after `Try:` in the output of Weir. */
function tried(output: string): string {
  const [, command = ''] = /^Try:\n((?: {2}.*\n?)+)/m.exec(output) ?? [];
  return command;
}

const CHANNEL = {
  ...{ id: 'main', protocol: 'anthropic', base_url: upstream.url, api_key: 'none' },
  models: { 'claude-haiku-4-5': 'claude-haiku-4-5' },
};

describe('the command that Weir prints', () => {
  test.each<[string, WeirOptions]>([
    ['without weir.yaml', {}],
    ['with one Claude model', { config: JSON.stringify({ channels: [CHANNEL] }) }],
  ])('works, %s', async (_, options) => {
    const weir = await started(options);
    const answer = JSON.parse(await sh(tried(weir.output()))) as { object?: string };
    expect(answer.object).toBe('chat.completion');
  });
});

test('every address of first-run.json is served', async () => {
  const weir = await started({ random_credentials: true, shared_database: false });
  const text = readFileSync(join(weir.data, 'first-run.json'), 'utf8');
  const values = Object.values(JSON.parse(text) as Record<string, unknown>);
  const addresses = values.filter((each) => String(each).startsWith('http'));
  expect(addresses).toEqual([weir.base_url, expect.stringContaining('/v1/auth/links/lk-')]);
  expect(await sh(`curl -s ${String(addresses[0])}/healthz`)).toContain('ok');
  expect(await sh(`curl -s ${String(addresses[1])}`)).toContain('"kind":"operator"');
});

test('an empty weir.yaml is named when Weir starts', async () => {
  const weir = await started({ config: '' });
  expect(weir.output()).toContain('has no channels, so no model can be called');
  expect(tried(weir.output())).toBe('');
});

describe('a value of weir.yaml', () => {
  const NAME = '{OPENAI_KEY}';
  const yaml = (api_key: string) => `channels:\n  - ${JSON.stringify({ ...CHANNEL, api_key })}\n`;

  test.each(['$OPENAI_KEY', `$${NAME}`, `$${NAME.replace('}', ':-none}')}`, `Bearer $${NAME}`])(
    '%s, which a shell replaces, is refused with what Weir reads',
    async (value) => {
      expect(await sh(`printf %s "${value}"`, { OPENAI_KEY: 'secret' })).toContain('secret');
      expect(() => parseWeirYaml(yaml(value), {})).toThrow(/write env:OPENAI_KEY/);
    },
  );

  test('that a shell does not replace stays as it is', () => {
    const [channel] = parseWeirYaml(yaml('sk-5$a'), {}).channels;
    expect(channel?.api_key).toBe('sk-5$a');
  });
});
