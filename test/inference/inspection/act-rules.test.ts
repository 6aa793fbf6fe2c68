/** Which acts each state allows, over all states that the machines can be in. */
import { describe, expect, test } from 'bun:test';
import type { AnyEventObject } from 'xstate';
import { actsOf, mayAct, retryTimer } from '../../../src/inference/inspection/act-rules.ts';
import { machineOf } from '../../../src/inference/inspection/past.ts';
import { statePath, takeEvent } from '../../../src/replay/step.ts';
import { restoreSnapshot } from '../../../src/replay/stored-snapshot.ts';
import type { Json } from '../../../src/replay/versioned.ts';

function snapshotOf(kind: string, value: unknown, context: object = {}) {
  const machine = machineOf(kind);
  const first = machine.machine.getInitialSnapshot({} as never).context as object;
  const snapshot = { value, context: { ...first, ...context } } as unknown as Json;
  return restoreSnapshot(machine, { snapshot, machine_version: machine.version });
}

const processing = (state: unknown) => ({ processing: state });

describe('a state allows', () => {
  test.each([
    ['task', { pending: 'reserved' }, ['retry', 'cancel']],
    ['task', { pending: 'submitting' }, ['cancel']],
    ['task', processing('waiting'), ['retry', 'cancel']],
    ['task', processing('polling'), ['cancel']],
    ['task', processing({ unknown: 'resting' }), ['retry', 'cancel']],
    ['task', processing({ unknown: 'asking' }), ['cancel']],
    ['task', processing('collecting'), []],
    ['task', processing('settling'), []],
    ['task', 'refunding', []],
    ['task', 'completed', []],
    ['task', 'failed', []],
    ['batch', 'received', []],
    ['batch', { in_progress: 'working' }, ['cancel']],
    ['batch', { in_progress: 'closing' }, []],
    ['batch', { canceling: 'draining' }, []],
    ['batch', 'ended', []],
    ['webhook', 'delivering', []],
    ['webhook', 'waiting', ['retry']],
    ['webhook', 'failed', []],
    ['channel', 'healthy', []],
    ['channel', 'open', ['reset']],
    ['channel', 'probing', []],
    ['channel', 'disabled', []],
    ['quota', { open: 'ample' }, []],
    ['quota', 'exhausted', []],
  ] as const)('a %s in %p: %p', (kind, value, acts) => {
    expect(actsOf(kind, snapshotOf(kind, value))).toEqual([...acts]);
  });

  test('no second request to cancel', () => {
    const canceled = snapshotOf('task', processing('waiting'), { cancel_requested: true });
    expect(actsOf('task', canceled)).toEqual(['retry']);
  });

  test('a reset of refused credentials, but not of an operator’s switch', () => {
    expect(mayAct('reset', 'channel', snapshotOf('channel', 'disabled', { returns: true }))).toBe(
      true,
    );
  });
});

/** The event of each timer, as the machine sets it on its way into the state. */
const WAYS: [kind: string, from: unknown, event: AnyEventObject][] = [
  [
    'task',
    { pending: 'submitting' },
    {
      ...{ type: 'SUBMIT_REJECTED', channel_id: 'a', random: 0.5, error_code: 'upstream_error' },
      ...{ retryable: true, more: false, busy: true, retry_after_ms: null },
    },
  ],
  ['task', processing('polling'), { type: 'PROGRESSED', progress: 1, random: 0.5 }],
  ['task', { pending: 'submitting' }, { type: 'LOST', channel_id: 'a', random: 0.5 }],
  ['webhook', 'delivering', { type: 'REFUSED', status: 500, final: false }],
];

test.each(WAYS)(
  'a retry of a %s after %p and %p fires the timer that the machine set',
  (kind, from, event) => {
    const { machine } = machineOf(kind);
    const [waiting, actions] = takeEvent(machine, snapshotOf(kind, from), event);
    const name = retryTimer(kind, waiting);
    const timer = actions.find(({ type }) => type === 'setTimer')?.params as {
      name: string;
      event: AnyEventObject;
    };
    expect(timer.name).toBe(name ?? '');
    const [after, effects] = takeEvent(machine, waiting, { ...timer.event, by: 'operator' });
    expect(statePath(after)).not.toBe(statePath(waiting));
    // The machine does not read who sent the event.
    const [plain, plainEffects] = takeEvent(machine, waiting, timer.event);
    expect([after.value, after.context]).toEqual([plain.value, plain.context]);
    const dataOf = (actions: typeof effects) => actions.map(({ type, params }) => [type, params]);
    expect(dataOf(effects)).toEqual(dataOf(plainEffects));
  },
);
