import { type CaseReport, STEPS } from './tasks.ts';
import { SUBJECTS } from './tasks-subject.ts';

const LEGEND = `1/1 completed, charged once, submitted once · 0/1 failed, refunded, submitted once
0/0 failed, refunded, never submitted · blank: this provider has no such step`;

/** Prints the matrix of steps and providers with charges/submissions, then all violations. */
export function printTaskKills(reports: readonly CaseReport[]): void {
  const providers = SUBJECTS.map(({ name }) => name).filter((name) =>
    reports.some(({ provider }) => provider === name),
  );
  const rows = STEPS.flatMap(({ name: step }) => {
    const of_step = reports.filter((each) => each.step === step);
    if (of_step.length === 0) return [];
    const cells = providers.map((name) => of_step.find(({ provider }) => provider === name));
    return [[step, ...cells.map((report) => (report ? cell(report) : ''))]];
  });
  printColumns([['killed at', ...providers], ...rows]);
  console.log(LEGEND);
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

function cell({ charged, submitted, violations }: CaseReport): string {
  return `${charged}/${submitted}${violations.length > 0 ? ' WRONG' : ''}`;
}

/** Prints columns; long headings are printed downwards, one word per line. */
function printColumns([heads = [], ...rows]: string[][]): void {
  const words = heads.map((head) => head.split(/[ ,-]+/));
  const height = Math.max(...words.map(({ length }) => length));
  const lines = Array.from({ length: height }, (_, at) => words.map((each) => each[at] ?? ''));
  const table = [...lines, ...rows];
  const widths = heads.map((_, at) => Math.max(...table.map((row) => row[at]?.length ?? 0)));
  for (const row of table) {
    console.log(row.map((text, at) => text.padEnd(widths[at] ?? 0)).join('  '));
  }
}
