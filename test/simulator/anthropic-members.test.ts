/**
 * Anthropic's packages send these members of a request, and the simulator takes each: all members that
 * @anthropic-ai/sdk declares, and all of the Python package.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Anthropic from '@anthropic-ai/sdk';
import { failureOf } from '../support/failure-of.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';

let simulator: RunningSimulator;
let anthropic: Anthropic;
beforeAll(async () => {
  simulator = await startSimulator();
  anthropic = new Anthropic({
    ...{ apiKey: 'sim-members', baseURL: simulator.anthropic_url, maxRetries: 0 },
  });
});
afterAll(() => simulator.stop());

const REQUEST = {
  ...{ model: 'claude-sonnet-4-6', max_tokens: 20 },
  messages: [{ role: 'user' as const, content: 'Hi [[sim tokens=3]]' }],
};

/** The members of a declared request. The SDK sends `betas` and two ids as headers. */
function declaredMembers(file: string, name: string): string[] {
  const path = fileURLToPath(import.meta.resolve(`@anthropic-ai/sdk/resources/${file}`));
  const text = readFileSync(path.replace(/\.m?js$/, '.d.ts'), 'utf8');
  const [, body = ''] = new RegExp(`export interface ${name} \\{(.*?)\\n\\}`, 's').exec(text) ?? [];
  const members = [...body.matchAll(/\n {4}([a-z_]+)\??:/g)].map(([, member]) => member ?? '');
  const headers = ['betas', 'user_profile_id', 'workspace_id'];
  return members.filter((member) => !headers.includes(member) && !(member in REQUEST));
}

/** PyPI anthropic 2.13.0: types/beta/message_create_params.py, without those of `types/`. */
const PYTHON_BETA = [
  ...['billing_policy', 'compaction', 'context_management', 'fallback_credit_token', 'fallbacks'],
  ...['mcp_servers', 'thread'],
];

test.each([
  ['messages/messages.js', 'MessageCreateParamsBase', 14],
  ['beta/messages/messages.js', 'MessageCreateParamsBase', 20],
])('every member that %s declares in %s is known', async (file, name, least) => {
  const members = declaredMembers(file, name);
  expect(members.length).toBeGreaterThanOrEqual(least);
  for (const member of [...members, ...PYTHON_BETA]) {
    const body = JSON.stringify({ ...REQUEST, [member]: null });
    const response = await fetch(`${simulator.anthropic_url}/v1/messages?beta=true`, {
      method: 'POST',
      headers: { 'x-api-key': 'sim-members', 'anthropic-version': '2023-06-01' },
      body,
    });
    expect(`${member} ${response.status}`).toBe(`${member} 200`);
    await response.text();
  }
});

describe('fallbacks', () => {
  test('are a list of models, or a word', async () => {
    for (const fallbacks of [
      'default' as const,
      [{ model: 'claude-haiku-4-5', max_tokens: 9 }, { model: 'claude-opus-4-8' }],
    ]) {
      const answer = await anthropic.beta.messages.create({
        ...{ ...REQUEST, fallbacks, fallback_credit_token: null },
        betas: ['server-side-fallback-2026-06-01'],
      });
      expect(answer.usage.output_tokens).toBe(3);
    }
  });

  test('of another form are refused', async () => {
    for (const fallbacks of ['claude-haiku-4-5', [{}], ['claude-haiku-4-5']]) {
      const body = { ...REQUEST, fallbacks } as object as Anthropic.Beta.MessageCreateParams;
      const error = await failureOf(Promise.resolve(anthropic.beta.messages.create(body)));
      expect(error).toBeInstanceOf(Anthropic.BadRequestError);
    }
  });
});
