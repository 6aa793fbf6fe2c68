/** `bin/chaos pause` */
import { parseArgs } from 'node:util';
import { runPauses } from './pause.ts';

/** Runs the experiment and prints its counts. Returns true if nothing was wrong. */
export async function pauseCommand(): Promise<boolean> {
  const { values } = parseArgs({
    allowPositionals: true,
    options: {
      seed: { type: 'string' },
      pauses: { type: 'string', default: '8' },
      target: { type: 'string', default: 'all' },
      'min-ms': { type: 'string', default: '1000' },
      'max-ms': { type: 'string', default: '30000' },
    },
  });
  const { target } = values;
  if (target !== 'replica' && target !== 'database' && target !== 'all') {
    throw new Error(`no such target: ${target}`);
  }
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  console.log(`--seed ${seed}`);
  const report = await runPauses({
    seed,
    target,
    pauses: Number(values.pauses),
    min_ms: Number(values['min-ms']),
    max_ms: Number(values['max-ms']),
    onViolation: (violation) => console.error(`WRONG  ${violation}`),
    onPause: (what) => console.error(what),
  });
  const { violations } = report;
  console.table({ ...report, violations: violations.length === 0 ? 'none' : violations.length });
  return violations.length === 0;
}
