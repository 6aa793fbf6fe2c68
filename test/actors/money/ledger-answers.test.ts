/** How a quota actor and its grant use the answers of the ledger. The lane is scripted. */
import { expect, test } from 'bun:test';
import { Grant } from '../../../src/actors/money/grant.ts';
import type { Lane } from '../../../src/actors/money/lane.ts';
import { Quotas } from '../../../src/actors/money/quotas.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';

interface Command {
  type: string;
  expected_granted?: number;
}

/** A lane that gives these answers, one after the other, and then the last one again. */
function scripted(...answers: object[]) {
  const commands: Command[] = [];
  const lane = {
    submit: async (command: Command) => {
      commands.push(command);
      return answers[Math.min(commands.length, answers.length) - 1];
    },
  } as unknown as Lane;
  const clock = new VirtualClock();
  const ids = { uuid: () => crypto.randomUUID() };
  const deps = { lane, clock, ids, replica_id: () => 'replica', mayAdmit: () => true };
  return { commands, clock, deps: { ...deps, onFenced: () => undefined } };
}

test('a grant knows its amount after a return', async () => {
  const { commands, deps } = scripted(
    { type: 'granted', granted: 100 },
    { type: 'returned', granted: 40, closed: false },
  );
  const grant = new Grant('key', 'org', deps);
  await grant.request({ need: 100, want: 100, recall_seq: null });
  await grant.return({ amount: 60, recall_acked: 0, close: false });
  await grant.request({ need: 10, want: 10, recall_seq: null });
  expect(commands.map(({ expected_granted }) => expected_granted)).toEqual([0, 100, 40]);
});

test('a call waits if calls on other replicas hold the money, and is not told that it is spent', async () => {
  const short = { type: 'short', bound: 'key', free: 0, elsewhere: 5 };
  const { clock, deps } = scripted(short);
  const quota = new Quotas(deps).getOrCreate({ id: 'key', organization_id: 'org' });
  const signal = new AbortController().signal;
  const outcome = quota
    .reserve({ amount: 10, minimum: () => 10, signal })
    .catch((error: { id: string }) => error.id);
  let answer: unknown;
  outcome.then((id) => {
    answer = id;
  });
  for (let step = 0; step < 400 && answer === undefined; step += 1) {
    clock.advance(50);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(answer).toBe('quota_in_flight');
});
