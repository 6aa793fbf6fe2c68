import { expect, test } from 'bun:test';
import { causeOf, lasting } from '../../web/pages/overview/dismissed.ts';

const notice = (id: string, since: string | null = null) => ({ id, since });

test('a cause that returns has another name', () => {
  const before = notice('model_down:gpt-4o', '2026-11-26T10:00:00.000Z');
  const after = notice('model_down:gpt-4o', '2026-11-26T12:00:00.000Z');
  expect(causeOf(before)).not.toBe(causeOf(after));
  expect(causeOf(notice('key_at_cap:key_1:5'))).toBe('key_at_cap:key_1:5');
});

test('a dismissed cause is kept while it lasts, and forgotten when it ends', () => {
  const [cap, low] = [notice('key_at_cap:key_1:5'), notice('balance_low:100')];
  const dismissed = [causeOf(cap), causeOf(low)];
  expect(lasting(dismissed, [cap, low])).toEqual(dismissed);
  expect(lasting(dismissed, [low])).toEqual([causeOf(low)]);
  // It had ended in between, so it is shown again.
  expect(lasting(lasting(dismissed, [low]), [cap, low])).toEqual([causeOf(low)]);
});
