/** The first lines that a new operator reads. */
import { expect, test } from 'bun:test';
import { demoInstallation } from '../../src/config/demo.ts';
import { installationOf } from '../../src/config/installation.ts';
import { parseWeirYaml } from '../../src/config/weir-yaml.ts';
import { chatModelOf, greeting } from '../../src/start/greeting.ts';

const FIRST = { api_key: 'sk-1', management_token: 'mt-1', operator_token: 'op-1' };
const channel = (id: string, models: string, more = '') => `  - id: ${id}
    protocol: anthropic
    base_url: https://api.example.com
    api_key: secret
${more}    models: ${models}
`;
const suggested = (yaml: string) => chatModelOf(installationOf(parseWeirYaml(yaml, {})));

test('the example calls a model that a channel of weir.yaml serves', () => {
  expect(suggested(`channels:\n${channel('a', '{ claude-haiku-4-5: x }')}`)).toBe(
    'claude-haiku-4-5',
  );
  const off = channel('b', '{ claude-opus-4-5: x }', '    enabled: false\n');
  expect(suggested(`channels:\n${off}`)).toBeUndefined();
  expect(suggested('')).toBeUndefined();
  expect(chatModelOf(demoInstallation('http://unused.invalid'))).toBe('gpt-4o-mini');
});

const started = {
  ...{ base_url: 'http://localhost:1', first_run: FIRST, operator_link: undefined },
  ...{ chat_model: 'claude-haiku-4-5', has_dashboard: true },
};

test('the greeting has an example only if there is a model for it', () => {
  expect(greeting(started)).toContain('"model":"claude-haiku-4-5"');
  expect(greeting({ ...started, chat_model: undefined })).not.toContain('Try:');
  expect(greeting({ ...started, first_run: undefined })).not.toContain('Try:');
});

test('the greeting has a link for the first operator until there is one', () => {
  const operator_link = 'http://localhost:1/v1/auth/links/lk-1';
  expect(greeting(started)).not.toContain('Sign-in link');
  expect(greeting({ ...started, first_run: undefined, operator_link })).toContain(
    `Sign-in link      ${operator_link}\n`,
  );
});

test('the greeting names the dashboard only if this process serves one', () => {
  expect(greeting(started)).toContain('Dashboard         http://localhost:1/\n');
  expect(greeting({ ...started, has_dashboard: false })).not.toContain('Dashboard');
});
