import { describe, expect, test } from 'bun:test';
import { decideAmount } from '../../src/machines/grant.ts';
import { fc } from '../support/property.ts';

const amount = fc.nat(1_000_000_000_000);

describe('the size of a grant', () => {
  test('P2: a grant never exceeds the cap or the balance, and the need is given if it is free', () => {
    fc.assert(
      fc.property(
        amount,
        amount,
        fc.option(amount, { nil: null }),
        amount,
        fc.integer({ min: 1, max: 20 }),
        (need, slack, key_free, balance, replicas) => {
          const decision = decideAmount(
            { need, want: need + slack },
            { key_free, balance, budgets: [], replicas },
          );
          const free = Math.min(key_free ?? Number.MAX_SAFE_INTEGER, balance);
          expect(decision.type).toBe(need <= free ? 'given' : 'short');
          if (decision.type === 'short') return;
          expect(decision.amount).toBeGreaterThanOrEqual(need);
          expect(decision.amount).toBeLessThanOrEqual(Math.min(free, need + slack));
          // A grant with slack is at most half of a replica's equal share.
          if (decision.amount > need) {
            expect(decision.amount * 2 * replicas).toBeLessThanOrEqual(free);
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('a grant shrinks near the cap, and the last ones are exact', () => {
    const sizes = [1_000, 400, 100, 40, 20].map((key_free) =>
      decideAmount({ need: 10, want: 160 }, { key_free, balance: 1e9, budgets: [], replicas: 2 }),
    );
    expect(sizes).toEqual([
      { type: 'given', amount: 160, exact: false },
      { type: 'given', amount: 100, exact: false },
      { type: 'given', amount: 25, exact: false },
      { type: 'given', amount: 10, exact: true },
      { type: 'given', amount: 10, exact: true },
    ]);
  });

  test('may be all the money that is left, to the last nano-USD', () => {
    const request = { need: 10, want: 10 };
    for (const funds of [
      { key_free: 10, balance: 100, budgets: [], replicas: 2 },
      { key_free: null, balance: 10, budgets: [], replicas: 2 },
    ]) {
      expect(decideAmount(request, funds)).toMatchObject({ type: 'given', amount: 10 });
    }
  });

  test('is a whole number of nano-USD', () => {
    const funds = { key_free: 7, balance: 1e9, budgets: [], replicas: 1 };
    expect(decideAmount({ need: 1, want: 160 }, funds)).toMatchObject({ amount: 3 });
  });

  test('a refusal names the limit: the key or the organization', () => {
    expect(
      decideAmount({ need: 5, want: 5 }, { key_free: 4, balance: 100, budgets: [], replicas: 1 }),
    ).toEqual({
      type: 'short',
      bound: 'key',
      free: 4,
    });
    expect(
      decideAmount({ need: 5, want: 5 }, { key_free: null, balance: 2, budgets: [], replicas: 1 }),
    ).toEqual({
      type: 'short',
      bound: 'organization',
      free: 2,
    });
  });
});

describe('a soft budget', () => {
  const funds = { key_free: null, balance: 1_000, budgets: [], replicas: 1 };
  const soft = (free: number, is_spent = false) => ({ id: 'soft', free, is_spent });

  test('shrinks what is given, and never refuses', () => {
    const give = (free: number, is_spent?: boolean) =>
      decideAmount({ need: 10, want: 160 }, { ...funds, soft: [soft(free, is_spent)] });
    expect(give(2_000)).toEqual({ type: 'given', amount: 160, exact: false });
    expect(give(100)).toEqual({ type: 'given', amount: 50, exact: false });
    expect(give(10)).toEqual({ type: 'given', amount: 10, exact: true });
    // Held money may return, so the next call is compared with the limit again.
    expect(give(9)).toEqual({ type: 'given', amount: 10, exact: true, crowded_id: 'soft' });
    expect(decideAmount({ need: 10, want: 10 }, { ...funds, soft: [soft(9)] })).toMatchObject({
      exact: true,
    });
    // A spent budget stays reached, so calls need no exact amounts.
    expect(give(0, true)).toEqual({ type: 'given', amount: 160, exact: false });
    expect(give(-50, true)).toEqual({ type: 'given', amount: 160, exact: false });
  });

  test('does not hide that a hard limit is too low', () => {
    const hard = { ...funds, balance: 5, soft: [soft(-50, true)] };
    expect(decideAmount({ need: 10, want: 160 }, hard)).toMatchObject({
      ...{ type: 'short', bound: 'organization', free: 5 },
    });
  });
});
