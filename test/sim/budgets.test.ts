import { expect, test } from 'bun:test';
import { LEDGER_RUNS, runMany } from './many.ts';

const KINDS = ['organization', 'tag'] as const;

test.each(KINDS)(
  `P2: near a budget (%s) two replicas never refuse falsely and never overspend, ${LEDGER_RUNS} runs`,
  async (budget) => {
    const options = { calls: 16, capCalls: 8, faults: 0, kills: 0, budget };
    const totals = await runMany(LEDGER_RUNS, options);
    expect(totals.served).toBeGreaterThan(7 * LEDGER_RUNS);
    expect(totals.refused).toBeGreaterThan(LEDGER_RUNS);
  },
  500_000,
);

test.each(KINDS)(
  `P1: windows (%s) have what their grants hold despite lost connections and kills, ${LEDGER_RUNS} runs`,
  async (budget) => {
    const options = { calls: 12, capCalls: 8, faults: 0.2, kills: 2, budget };
    const totals = await runMany(LEDGER_RUNS, options);
    expect(totals.faults).toBeGreaterThan(LEDGER_RUNS);
    expect(totals.kills).toBeGreaterThan(LEDGER_RUNS / 2);
  },
  500_000,
);
