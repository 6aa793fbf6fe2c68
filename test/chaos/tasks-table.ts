import { type CaseReport, STEPS } from './tasks.ts';
import { TRAITS } from './tasks-provider.ts';

/** Prints the matrix step × provider → outcome, and below it whatever is wrong. */
export function printTaskKills(reports: readonly CaseReport[]): void {
  const rows = STEPS.flatMap(({ name: step }) => {
    const cells = TRAITS.flatMap(({ name: provider }) => {
      const report = reports.find((each) => each.step === step && each.provider === provider);
      if (!report) return [];
      const { violations, outcome } = report;
      return [[provider, violations.length > 0 ? `WRONG: ${outcome}` : outcome]];
    });
    return cells.length > 0 ? [{ 'killed at': step, ...Object.fromEntries(cells) }] : [];
  });
  console.table(rows);
  const wrong = reports.filter(({ violations }) => violations.length > 0);
  for (const { step, provider, violations } of wrong) {
    console.log(`${step} / ${provider}: ${violations.join('; ')}`);
  }
  console.log(
    wrong.length === 0
      ? `${reports.length} kills, money conserved, every task ended right`
      : `${wrong.length} of ${reports.length} cases are wrong`,
  );
}
