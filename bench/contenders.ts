/** The programs between the load and the simulator: none, nginx, Portkey, Weir. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../test/support/ports.ts';
import { until } from '../test/support/until.ts';
import { type RunningWeir, startWeir, type WeirOptions } from '../test/support/weir.ts';
import { ANSWER_TOKENS } from './answers.ts';
import { findProgram } from './programs.ts';
import type { Target } from './target.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const PORTKEY = join(HERE, 'node_modules/@portkey-ai/gateway/build/start-server.js');
/** The model of all calls. */
export const MODEL = 'gpt-4o-mini';
const PATH = '/openai/v1/chat/completions';
const UPSTREAM_KEY = 'sim-bench';
/** The simulator's account of Weir's calls. */
export const WEIR_ACCOUNT = 'bench-weir';

export const NAMES = ['direct', 'nginx', 'portkey-node', 'portkey-bun', 'weir'] as const;
export type ContenderName = (typeof NAMES)[number];

export interface Contender {
  name: ContenderName;
  target(stream: boolean): Target;
  stop(): Promise<void>;
}

/**
 * The body of every call. Weir requests the usage of every stream. So all contenders request it.
 */
export const bodyOfCall = (stream: boolean) =>
  JSON.stringify({
    model: MODEL,
    messages: [{ role: 'user', content: `Hello, how are you? [[sim tokens=${ANSWER_TOKENS}]]` }],
    ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  });

const headers = (key: string, more: Record<string, string> = {}) => ({
  'Content-Type': 'application/json',
  Authorization: `Bearer ${key}`,
  ...more,
});

export function direct(simulatorUrl: string): Contender {
  return {
    name: 'direct',
    target: (stream) => ({
      url: simulatorUrl + PATH,
      headers: headers(UPSTREAM_KEY),
      body: bodyOfCall(stream),
    }),
    stop: async () => undefined,
  };
}

/**
 * Starts nginx with `proxy_pass`, upstream keep-alive and one worker. nginx writes no log and does
 * not buffer streams.
 */
export async function nginx(simulatorUrl: string, folder: string): Promise<Contender> {
  const program = await findProgram('nginx');
  const port = await freePort();
  const home = join(folder, 'nginx');
  mkdirSync(home);
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(home, name)};`)
    .join('\n  ');
  const config = join(home, 'nginx.conf');
  writeFileSync(
    config,
    `worker_processes 1;
daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
pid ${join(home, 'pid')};
error_log stderr crit;
events { worker_connections 4096; }
http {
  access_log off;
  keepalive_requests 1000000000;
  ${temp}
  upstream simulator { server ${new URL(simulatorUrl).host}; keepalive 512; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://simulator;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`,
  );
  const child = Bun.spawn([program.path, '-c', config, '-p', home, '-e', 'stderr'], {
    env: { ...process.env, ...program.env },
    stdout: 'ignore',
    stderr: 'inherit',
  });
  const url = `http://127.0.0.1:${port}`;
  await listening(url);
  return {
    name: 'nginx',
    target: (stream) => ({
      url: url + PATH,
      headers: headers(UPSTREAM_KEY),
      body: bodyOfCall(stream),
    }),
    stop: () => killAndWait(child),
  };
}

/**
 * Starts Portkey, the open-source gateway from npm, without authentication, limits or accounting.
 * On Node 20 it answers every stream with status 500 ("TypeError: immutable"). On Bun its streams
 * are complete.
 */
export async function portkey(simulatorUrl: string, runtime: 'node' | 'bun'): Promise<Contender> {
  await installed();
  const port = await freePort();
  const program = runtime === 'node' ? 'node' : process.execPath;
  const child = Bun.spawn([program, PORTKEY, `--port=${port}`, '--headless'], {
    env: { ...process.env, NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: 'localhost,127.0.0.1' },
    stdout: 'ignore',
    stderr: 'ignore',
  });
  const url = `http://127.0.0.1:${port}`;
  await listening(url);
  const route = {
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${simulatorUrl}/openai/v1`,
  };
  return {
    name: `portkey-${runtime}`,
    target: (stream) => ({
      url: `${url}/v1/chat/completions`,
      headers: headers(UPSTREAM_KEY, route),
      body: bodyOfCall(stream),
    }),
    stop: () => killAndWait(child),
  };
}

/**
 * The channel of all calls, for `weir.yaml`. Its slots suffice for every number of connections. Its id
 * is the name of its account, so that the books can be compared.
 */
export const chatChannel = (simulatorUrl: string) => ({
  id: WEIR_ACCOUNT,
  protocol: 'openai',
  base_url: `${simulatorUrl}/openai/v1`,
  api_key: `sim-${WEIR_ACCOUNT}`,
  max_concurrency: 10_000,
  models: { [MODEL]: `${MODEL}-physical` },
});

/** Requests a minute by role, so many that the rate limit refuses no call. */
export const ROLES = { standard: 10_000_000 };

/**
 * Weir as in production. It has its own process and its own PostgreSQL with fsync. All features are
 * on.
 */
export async function weir(
  simulatorUrl: string,
  { env, ...options }: Pick<WeirOptions, 'command' | 'data' | 'env'> = {},
): Promise<Contender & { weir: RunningWeir }> {
  const running = await startWeir({
    ...options,
    env: { WEIR_BOOTSTRAP_BALANCE_USD: '1000000', WEIR_CACHE: 'on', ...env },
    config: JSON.stringify({ channels: [chatChannel(simulatorUrl)], roles: ROLES }),
  });
  return {
    name: 'weir',
    weir: running,
    target: (stream) => targetOf(running, stream),
    stop: () => running.stop(),
  };
}

/** A call through a running Weir. */
export function targetOf({ port, api_key }: RunningWeir, stream: boolean): Target {
  return {
    url: `http://127.0.0.1:${port}/v1/chat/completions`,
    // All calls are the same, and each must reach the upstream.
    headers: headers(api_key, { 'x-weir-cache-control': 'no_cache' }),
    body: bodyOfCall(stream),
  };
}

/** A call that the cache may answer. */
export function hitTargetOf({ port, api_key }: RunningWeir, stream: boolean): Target {
  return {
    url: `http://127.0.0.1:${port}/v1/chat/completions`,
    ...{ headers: headers(api_key), body: bodyOfCall(stream), cache: 'hit' },
  };
}

/** A call that the cache may answer, if the same one came before: it never does. */
export function uniqueTargetOf(weir: RunningWeir, stream: boolean): Target {
  const { cache: _, ...target } = hitTargetOf(weir, stream);
  const unique = 'how are you';
  return { ...target, unique };
}

async function installed(): Promise<void> {
  const command = [process.execPath, 'install', '--frozen-lockfile', '--silent'];
  const install = Bun.spawn(command, { cwd: HERE });
  if ((await install.exited) !== 0)
    throw new Error('the packages of Portkey could not be installed');
}

async function listening(url: string): Promise<void> {
  await until(`${url} listens`, () =>
    fetch(url).then(
      () => true,
      () => false,
    ),
  );
}

async function killAndWait(child: { kill(): void; exited: Promise<number> }): Promise<void> {
  child.kill();
  await child.exited;
}
