/** The lists of members that people may see. */
import { describe, expect, test } from 'bun:test';
import { initialTransition } from 'xstate';
import { OPERATOR, organizationViewer } from '../../../src/inference/inspection/viewer.ts';
import { MACHINES } from '../../../src/replay/machines.ts';
import { BATCH_EVENTS, rejected, TASK_EVENTS, WEBHOOK_EVENTS } from '../../machines/events.ts';

const viewer = organizationViewer('org', new Uint8Array(32));
const EVENTS: Record<string, readonly object[]> = {
  task: TASK_EVENTS,
  batch: BATCH_EVENTS,
  webhook: WEBHOOK_EVENTS,
  quota: [],
  channel: [],
};

describe.each(Object.entries(MACHINES))(
  'operators see all of a %s',
  (kind, { machine, earlier }) => {
    test('its context, in each version', () => {
      for (const each of [machine, ...(earlier ?? []).map((version) => version.machine)]) {
        const { context } = initialTransition(each)[0];
        expect(OPERATOR.members(kind, 'id', context)).toEqual(context);
      }
    });

    test('its events', () => {
      for (const event of EVENTS[kind] ?? []) {
        expect(OPERATOR.members(kind, 'id', event)).toEqual({ ...event });
      }
    });
  },
);

test('a member that is not on the list is left out, also inside of another member', () => {
  const event = { type: 'REFUSED', prompt: 'secret', status: 500 };
  expect(OPERATOR.members('webhook', 'id', event)).toEqual({ type: 'REFUSED', status: 500 });
  const context = { verdict: { type: 'short', missing: 1, api_key: 'sk-secret' } };
  expect(OPERATOR.members('quota', 'id', context)).toEqual({
    verdict: { type: 'short', missing: 1 },
  });
  expect(OPERATOR.members('unknown', 'id', event)).toEqual({});
});

test('an organization sees aliases of channels: the same in one actor, others in another (P5)', () => {
  const event = rejected({ more: true });
  const shown = viewer.members('task', 'one', event);
  const context = viewer.members('task', 'one', { pinned_channel: null, tried: ['a', 'b'] });
  expect(JSON.stringify([shown, context])).not.toMatch(/"a"|"b"/);
  expect(shown['channel_id']).toMatch(/^hidden-[0-9a-f]{8}$/);
  expect(context).toEqual({
    pinned_channel: null,
    tried: [shown['channel_id'], expect.stringMatching(/^hidden-/)],
  });
  expect(viewer.members('task', 'two', event)['channel_id']).not.toBe(shown['channel_id']);
  expect(viewer.replica('replica-1')).toMatch(/^replica-[0-9a-f]{8}$/);
});

test('only operators see channels', () => {
  expect(viewer.kinds).not.toContain('channel');
  expect(OPERATOR.kinds).toEqual(Object.keys(MACHINES));
});
