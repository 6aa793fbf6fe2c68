/**
 * The kill matrix of durable tasks. Weir is killed with -9 at every step of a task, for every
 * kind of provider, and started again. Each task must end correctly: completed and charged once, or
 * failed and refunded once. The provider's books count its submissions.
 */
import { Random } from '../sim/random.ts';
import { CaseChain } from './tasks-chain.ts';
import { SUBJECTS, type Subject, stopSharedSimulator } from './tasks-subject.ts';

export interface TaskKillOptions {
  /** Parts of the names of providers and steps to run; default: all. */
  provider?: string;
  step?: string;
  /** Number of providers whose cases run at the same time. */
  parallel: number;
  /** Runs only this many cases, chosen by `seed`; default: all. */
  sample?: number;
  /** Seed of the order of the cases. */
  seed: number;
}

export interface CaseReport {
  step: string;
  provider: string;
  charged: number;
  submitted: number;
  violations: string[];
  /** What the client and Weir's log say of a case with violations. */
  evidence: string[];
}

export interface Step {
  readonly name: string;
  /** True if the job must fail, so that its money is refunded. */
  readonly fails?: boolean;
  readonly only?: 'job' | 'inline';
}

/**
 * The steps. They are every commit of a task, every point between a commit and its effect, and
 * points inside an effect.
 */
export const STEPS: readonly Step[] = [
  { name: 'pending.submitting, written and not committed' },
  { name: 'submit, not begun' },
  { name: 'submit, nothing sent yet' },
  { name: 'submit, accepted upstream' },
  { name: 'submit, done and not committed' },
  { name: 'processing.waiting, written and not committed', only: 'job' },
  { name: 'poll, not begun', only: 'job' },
  { name: 'poll, done and not committed', only: 'job' },
  { name: 'processing.collecting, written and not committed' },
  { name: 'collect, not begun' },
  { name: 'collect, done and not committed' },
  { name: 'processing.settling, written and not committed' },
  { name: 'settle, not begun' },
  { name: 'settle, done and not committed' },
  { name: 'completed, written and not committed' },
  { name: 'refunding, written and not committed', fails: true },
  { name: 'refund, not begun', fails: true },
  { name: 'refund, done and not committed', fails: true },
  { name: 'failed, written and not committed', fails: true },
];

/**
 * Runs the chosen cases. `onReport` gets each report as soon as its case has ended. The cases of one
 * provider form a chain on one database: the Weir that recovers from one kill is the next victim.
 */
export async function runTaskKills(
  options: TaskKillOptions,
  onReport: (report: CaseReport) => void = () => undefined,
): Promise<CaseReport[]> {
  const { seed, sample } = options;
  const random = new Random(seed);
  const all = random.shuffle(
    STEPS.flatMap((step) => SUBJECTS.map((subject) => ({ step, subject }))).filter(
      ({ step, subject }) =>
        step.only !== (subject.by_job ? 'inline' : 'job') &&
        step.name.includes(options.step ?? '') &&
        subject.name.includes(options.provider ?? ''),
    ),
  );
  const cases = sample === undefined ? all : all.slice(0, sample);
  const chains = [...Map.groupBy(cases, ({ subject }) => subject)]
    .map(([subject, own]): [Subject, Step[]] => [subject, own.map(({ step }) => step)])
    // The longest chains first, so that none of them runs alone at the end.
    .sort(([, a], [, b]) => b.length - a.length);
  const reports: CaseReport[] = [];
  const worker = async () => {
    for (let next = chains.shift(); next; next = chains.shift()) {
      const chain = new CaseChain(...next, seed, (report) => {
        reports.push(report);
        onReport(report);
      });
      await chain.run();
    }
  };
  await Promise.all(Array.from({ length: options.parallel }, worker));
  await stopSharedSimulator();
  return reports;
}
