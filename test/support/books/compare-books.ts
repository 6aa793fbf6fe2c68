/**
 * Compares the books of the simulated providers with Weir's usage lines, call by call. Both sides
 * were written by different programs, and the prices come from a third one, so an agreement says
 * that each call was charged once, with its tokens and its price.
 */
import type { Sql } from '../../../db/client.ts';
import { type Difference, differenceText } from './difference.ts';
import { type Finding, judgeLines, judgePair, judgeUncharged } from './judge.ts';
import { jobIdsIn, pairUp, type Witness } from './pairing.ts';
import { type ProviderWork, readProviderWork } from './provider-work.ts';
import { readUnchargedTasks, readUsageLines, type UnchargedTask } from './usage-lines.ts';

export interface BookComparison {
  simulator_url: string;
  /** The database of Weir. Its calls and tasks must have ended. */
  sql: Sql;
  /** Printed with each difference, so that the run can be repeated. */
  seed: string | number;
  /** Only the work of these accounts of the simulator; default: all accounts. */
  accounts?: readonly string[];
  /** What clients know of their requests. Calls without a witness are paired by their tokens. */
  witnesses?: readonly Witness[];
  /**
   * Complete answers that clients without a witness received. So many calls must be charged;
   * default: every call that the provider completed.
   */
  answers?: number;
  /** True if a replica was killed or lost its lease. Then a call that broke may be uncharged. */
  killed?: boolean;
  /** Work that was read before, because the simulator's books were emptied meanwhile. */
  work?: ProviderWork;
  /** Prints one difference; default: to stderr. */
  print?: (text: string) => void;
}

/**
 * Returns the differences; empty if both books agree. Prints each difference as soon as it is
 * found. The convention of the simulator's accounts applies: a call is served by the channel whose
 * id is the name of the account.
 */
export async function compareBooks(options: BookComparison): Promise<Difference[]> {
  const { sql, seed, killed = false, answers, witnesses = [], print = console.error } = options;
  const differences: Difference[] = [];
  const report = (findings: readonly Finding[]) => {
    for (const finding of findings) {
      const difference = { ...finding, seed };
      differences.push(difference);
      print(differenceText(difference));
    }
  };
  const work = options.work ?? (await readProviderWork(options.simulator_url, options.accounts));
  const lines = await readUsageLines(sql);
  const tasks = work.jobs.length === 0 ? [] : await readUnchargedTasks(sql);
  if (work.forgotten > 0) {
    const detail = `the simulator has forgotten ${work.forgotten} calls`;
    report([{ kind: 'forgotten calls', provider_id: null, request_id: null, detail }]);
  }
  const pairing = pairUp(lines, work, witnesses);
  for (const pair of pairing.pairs) report(judgePair(pair));
  report(judgeLines(pairing));
  const paid = pairing.pairs.filter(
    ({ line, work, witness }) => work.type === 'call' && line.outcome === 'completed' && !witness,
  );
  const circumstances = { killed, answers, paid_answers: paid.length };
  report(judgeUncharged(pairing.uncharged, taskFates(tasks), circumstances));
  return differences;
}

/** Returns a function: true if the job's task failed, false if not, undefined for an unknown job. */
function taskFates(tasks: readonly UnchargedTask[]): (job_id: string) => boolean | undefined {
  const fates = new Map<string, boolean>();
  for (const { job, status } of tasks) {
    for (const id of jobIdsIn(job)) fates.set(id, status === 'failed');
  }
  return (job_id) => fates.get(job_id);
}
