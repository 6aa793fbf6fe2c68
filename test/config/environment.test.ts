import { describe, expect, test } from 'bun:test';
import { ConfigurationError, HELP, readEnvironment } from '../../src/config/environment.ts';

const read = (env: Record<string, string | undefined>, args: string[] = []) =>
  readEnvironment(args, env).environment;

describe('the environment', () => {
  test('has a default for every required setting', () => {
    expect(read({})).toEqual({
      PORT: 3_000,
      WEIR_DATA: './data',
      WEIR_BOOTSTRAP_BALANCE_USD: 100,
      WEIR_ALERT_INTERVAL_S: 60,
      WEIR_KEPT_ANSWERS_MB: 256,
      WEIR_LOG_LEVEL: 'info',
      WEIR_DASHBOARD: 'on',
      WEIR_CACHE: 'on',
      WEIR_TRANSPORT: 'own',
      WEIR_BODY_MEMORY_MB: 512,
      WEIR_CIRCUIT_HISTORY_DAYS: 30,
      WEIR_ACTOR_EVENTS: 64,
      WEIR_CALL_RECORD_DAYS: 90,
      WEIR_USAGE_LINE_DAYS: 400,
      WEIR_WRONG_KEYS_PER_MINUTE: 60,
    });
  });

  test('is parsed to the types of the settings', () => {
    const environment = read({ PORT: '0', WEIR_BOOTSTRAP_BALANCE_USD: '12.5' });
    expect(environment).toMatchObject({ PORT: 0, WEIR_BOOTSTRAP_BALANCE_USD: 12.5 });
  });

  test('usage lines can be kept for ever', () => {
    expect(read({ WEIR_USAGE_LINE_DAYS: '0' }).WEIR_USAGE_LINE_DAYS).toBe(0);
    expect(read({ WEIR_USAGE_LINE_DAYS: '31' }).WEIR_USAGE_LINE_DAYS).toBe(31);
  });

  test('is overridden by a flag', () => {
    expect(read({ PORT: '1' }, ['--port', '2', '--data', '/d'])).toMatchObject({
      PORT: 2,
      WEIR_DATA: '/d',
    });
  });

  test('an empty variable counts as not set', () => {
    expect(read({ PORT: '', DATABASE_URL: '' })).not.toHaveProperty('DATABASE_URL');
    expect(read({ PORT: '' }).PORT).toBe(3_000);
  });

  test.each([
    [{ PORT: 'eighty' }, 'PORT'],
    [{ WEIR_WRONG_KEYS_PER_MINUTE: '0' }, 'WEIR_WRONG_KEYS_PER_MINUTE'],
    [{ WEIR_TRUSTED_PROXIES: '10.0.0.0/33' }, 'WEIR_TRUSTED_PROXIES'],
    [{ WEIR_METRICS_TOKEN: 'short' }, 'WEIR_METRICS_TOKEN'],
    [{ PORT: '65536' }, 'PORT'],
    [{ PORT: '80.5' }, 'PORT'],
    [{ WEIR_PUBLIC_URL: 'weir.example.com' }, 'WEIR_PUBLIC_URL'],
    [{ WEIR_PUBLIC_URL: 'https://user@weir.example.com' }, 'WEIR_PUBLIC_URL'],
    [{ WEIR_PUBLIC_URL: 'https://weir.example.com/?a' }, 'WEIR_PUBLIC_URL'],
    [{ WEIR_BOOTSTRAP_BALANCE_USD: '-1' }, 'WEIR_BOOTSTRAP_BALANCE_USD'],
    [{ WEIR_BOOTSTRAP_API_KEY: 'mt-of-the-wrong-kind' }, 'WEIR_BOOTSTRAP_API_KEY'],
    [{ WEIR_BOOTSTRAP_API_KEY: 'sk-with a space' }, 'WEIR_BOOTSTRAP_API_KEY'],
    [{ WEIR_LOG_LEVEL: 'loud' }, 'WEIR_LOG_LEVEL'],
    [{ WEIR_USAGE_LINE_DAYS: '30' }, 'WEIR_USAGE_LINE_DAYS'],
    [{ WEIR_USAGE_LINE_DAYS: '31.5' }, 'WEIR_USAGE_LINE_DAYS'],
    [{ WEIR_USAGE_LINE_DAYS: 'never' }, 'WEIR_USAGE_LINE_DAYS'],
    [{ WEIR_BODY_MEMORY_MB: '3' }, 'WEIR_BODY_MEMORY_MB'],
    [{ WEIR_TRANSPORT: 'curl' }, 'WEIR_TRANSPORT'],
  ])('%j is refused with the name of the variable', (env, name) => {
    expect(() => read(env)).toThrow(ConfigurationError);
    expect(() => read(env)).toThrow(new RegExp(`^${name} is not usable`));
  });

  test('P5: the message does not repeat a refused credential', () => {
    expect(() => read({ WEIR_BOOTSTRAP_API_KEY: 'hush' })).not.toThrow(/hush/);
  });

  test('an unknown flag is refused', () => {
    expect(() => read({}, ['--prot', '1'])).toThrow(/--prot/);
  });

  test('--help explains every variable', () => {
    expect(readEnvironment(['--help'], {}).help).toBe(true);
    for (const name of ['WEIR_CONFIG', 'DATABASE_URL', 'REDIS_URL', 'WEIR_BOOTSTRAP_API_KEY']) {
      expect(HELP).toContain(name);
    }
  });
});
