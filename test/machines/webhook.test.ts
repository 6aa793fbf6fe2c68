import { describe, expect, test } from 'bun:test';
import { initialTransition, transition } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import {
  MAX_WEBHOOK_ATTEMPTS,
  WEBHOOK_DELAYS_MS,
  type WebhookEvent,
  webhookMachine,
} from '../../src/machines/webhook.ts';
import { fc } from '../support/property.ts';
import { REFUSED, WEBHOOK_EVENTS } from './events.ts';

function play(events: readonly WebhookEvent[]) {
  let [snapshot] = initialTransition(webhookMachine);
  const effects: { type: string; params: unknown }[] = [];
  for (const event of events) {
    if (snapshot.status !== 'active') break;
    const [next, actions] = transition(webhookMachine, snapshot, event);
    snapshot = next;
    effects.push(...actions.map(({ type, params }) => ({ type, params })));
  }
  const attempts = effects.filter(({ type }) => type === 'deliver').length;
  const delays = effects
    .filter(({ type }) => type === 'setTimer')
    .map(({ params }) => (params as { delay_ms: number }).delay_ms);
  return { snapshot, attempts, delays };
}

describe('the webhook machine', () => {
  test('reaches every state, and a final state from each state', () => {
    const paths = getShortestPaths(webhookMachine, { events: WEBHOOK_EVENTS });
    const reached = new Set(paths.map(({ state }) => state.value));
    expect(reached).toEqual(new Set(['announced', 'delivering', 'waiting', 'delivered', 'failed']));
    for (const { state } of paths) {
      if (state.status !== 'active') continue;
      const onwards = getShortestPaths(webhookMachine, {
        fromState: state,
        events: WEBHOOK_EVENTS,
      });
      expect(onwards.some((path) => path.state.status === 'done')).toBe(true);
    }
  });

  test('each pause is longer than the one before, and the delivery fails after the last', () => {
    const again = Array.from({ length: 20 }, () => [REFUSED, { type: 'RETRY' } as const]).flat();
    const { snapshot, attempts, delays } = play([{ type: 'ANNOUNCED' }, ...again]);
    expect(delays).toEqual(WEBHOOK_DELAYS_MS);
    expect(attempts).toBe(MAX_WEBHOOK_ATTEMPTS);
    expect(snapshot.value).toBe('failed');
  });

  test('for any sequence of events, attempts are bounded and counted, and no attempt follows the end', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...WEBHOOK_EVENTS), { maxLength: 40 }), (events) => {
        const { snapshot, attempts } = play(events);
        expect(attempts).toBeLessThanOrEqual(MAX_WEBHOOK_ATTEMPTS);
        const open = snapshot.value === 'delivering' ? 1 : 0;
        expect(snapshot.context.attempts).toBe(attempts - open);
        if (snapshot.value === 'delivered') expect(snapshot.context.last_status).toBe(204);
      }),
      { numRuns: 2_000 },
    );
  });
});
