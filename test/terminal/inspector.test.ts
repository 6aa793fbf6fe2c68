/** The receiver of `@statelyai/inspect` reads a running Weir through `bin/weir inspector`. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { createWebSocketReceiver, type StatelyInspectionEvent } from '@statelyai/inspect';
import { createMachine, type MachineConfig } from 'xstate';
import { ROOT } from '../house/sources.ts';
import { insideOf, startTenants, type Tenants } from '../support/tenants.ts';
import { until } from '../support/until.ts';
import { startBridge, stopBridges } from './support/bridge.ts';

setDefaultTimeout(90_000);

let tenants: Tenants;
beforeAll(async () => {
  tenants = await startTenants();
});
afterAll(async () => {
  stopBridges();
  await tenants.stop();
});

function receive(port: number): StatelyInspectionEvent[] {
  const received: StatelyInspectionEvent[] = [];
  const receiver = createWebSocketReceiver({ server: `ws://127.0.0.1:${port}` });
  receiver.subscribe((event) => received.push(event));
  return received;
}

const ofTask = (received: readonly StatelyInspectionEvent[], id: string) =>
  received.filter(({ sessionId }) => sessionId.endsWith(`/task/${id}`));
const hasEnded = (frames: readonly StatelyInspectionEvent[]) =>
  frames.some((frame) => 'snapshot' in frame && frame.snapshot.status === 'done');

/** Runs a task while a receiver is connected, and returns the frames of the task. */
async function taskOn(port: number): Promise<StatelyInspectionEvent[]> {
  const received = receive(port);
  return until('the receiver sees a whole task', async () => {
    // The bridge may open its stream after the task began.
    const id = await tenants.createTask(tenants.home, 10);
    await until('the task has ended', async () => {
      const { status } = await tenants.manage<{ status: string }>('GET', `/tasks/${id}`);
      return status === 'completed';
    });
    const frames = await until('its frames came', () => {
      const found = ofTask(received, id);
      return (found.length === 0 || hasEnded(found)) && found;
    });
    return frames[0]?.type === '@xstate.actor' && frames;
  });
}

describe('the receiver of @statelyai/inspect', () => {
  test('gets each actor with its machine, its events and its states', async () => {
    const port = await startBridge(
      tenants.weir.base_url,
      tenants.weir.operator_token,
      '--machine',
      'task',
    );
    const [actor, ...rest] = await taskOn(port);
    if (actor?.type !== '@xstate.actor') throw new Error('the actor is not introduced');
    const machine = createMachine(
      JSON.parse(actor.definition ?? '') as MachineConfig<object, { type: string }>,
    );
    expect(machine.id).toBe('task');
    const snapshots = rest.flatMap((frame) => (frame.type === '@xstate.snapshot' ? [frame] : []));
    for (const { snapshot } of snapshots) {
      const { value, context, status } = snapshot as unknown as {
        readonly value: never;
        readonly context: object;
        readonly status: 'active' | 'done';
      };
      // XState itself knows each state, and which of them are final.
      expect(machine.resolveState({ value, context }).status).toBe(status);
    }
    const types = rest.flatMap((frame) => (frame.type === '@xstate.event' ? frame.event.type : []));
    expect(types).toContain('PRODUCED');
    expect(types.at(-1)).toBe('SETTLED');
    const { version } = await Bun.file(
      join(ROOT, 'node_modules/@statelyai/inspect/package.json'),
    ).json();
    expect(new Set(rest.map(({ _version }) => _version))).toEqual(new Set([version]));
  });

  test('gets the actors that were introduced before it connected', async () => {
    const port = await startBridge(
      tenants.weir.base_url,
      tenants.weir.operator_token,
      '--machine',
      'task',
    );
    const before = await taskOn(port);
    const later = receive(port);
    const id = before[0]?.sessionId.split('/').at(-1) ?? '';
    const frames = await until('the later receiver has the task', () => {
      const found = ofTask(later, id);
      return hasEnded(found) && found;
    });
    expect(frames).toEqual(before);
  });

  test('of an organization sees nothing of channels', async () => {
    const port = await startBridge(tenants.weir.base_url, tenants.home.management_token);
    const frames = await taskOn(port);
    expect(JSON.stringify(frames)).not.toMatch(insideOf(tenants));
  });
});

describe('the bridge', () => {
  const url = (port: number) => `http://127.0.0.1:${port}/`;

  test('serves a page with the inspector, and nothing to pages of other sites', async () => {
    const port = await startBridge(
      tenants.weir.base_url,
      tenants.weir.operator_token,
      '--inspector',
      'https://example.com/</script>',
    );
    const page = await (await fetch(url(port))).text();
    expect(page).toContain('const origin = "https://example.com";');
    expect(page.match(/<\/script>/g)).toHaveLength(1);
    for (const headers of [
      { origin: 'https://example.com' },
      { origin: 'null' },
      { origin: `http://localhost:${port + 1}` },
      { host: `weir.example:${port}` },
    ]) {
      const upgrade = { ...headers, ...UPGRADE };
      expect((await fetch(url(port), { headers: upgrade })).status).toBe(403);
      expect((await fetch(url(port), { headers })).status).toBe(403);
    }
    const own = { origin: `http://127.0.0.1:${port}`, ...UPGRADE };
    expect((await fetch(url(port), { headers: own })).status).toBe(101);
  });

  test.each([
    [['--port', 'x'], '--port must be a number from 0 to 65535.'],
    [['--inspector', 'file:///a'], '--inspector must be the address of a page'],
    [['--json'], '--json'],
  ])('refuses %p', (args, words) => {
    const { exitCode, stderr } = Bun.spawnSync([join(ROOT, 'bin/weir'), 'inspector', ...args]);
    expect(exitCode).toBe(2);
    expect(stderr.toString()).toContain(words);
  });

  test('says that its port is in use', async () => {
    const other = Bun.serve({ ...{ port: 0, hostname: '127.0.0.1' }, fetch: () => new Response() });
    const { exitCode, stderr } = Bun.spawnSync(
      [join(ROOT, 'bin/weir'), 'inspector', '--port', `${other.port}`, '--token', 'op-a'],
      { env: { PATH: process.env.PATH } },
    );
    expect(exitCode).toBe(2);
    expect(stderr.toString()).toContain(`Port ${other.port} is in use.`);
    await other.stop(true);
  });
});

const UPGRADE = {
  ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
  'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
};
