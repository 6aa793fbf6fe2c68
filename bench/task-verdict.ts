/** The targets of the run with many unfinished tasks, and whether they are met. */

import type { SideName } from './side.ts';
import { median, medianInterval } from './statistics.ts';
import type { FinalState, InlineResult } from './task-side.ts';
import { CONFIDENCE, intervalName } from './verdict.ts';

/** The most resident memory of Weir at any time, in MB of 10^6 bytes. */
const MAX_MEMORY_MB = 1_000;
/** The smallest median share of the old version's inline calls that the new version keeps. */
const MIN_RATE_SHARE = 0.95;
/**
 * The smallest share of the old version's polls that the new version must send. A version that
 * sends fewer polls has more time for calls and would seem faster.
 */
const MIN_POLL_SHARE = 0.9;
/**
 * The most memory of an unfinished task in a short run, in kB. Nearly all of it is noise of the
 * process, because a short run has few tasks. 10 kB would be the target of a full run.
 */
const MAX_KB_PER_TASK = 20;

/** One line of the verdict. */
export interface Verdict {
  text: string;
  met: boolean;
}

/** Inline calls of both versions beside the same tasks, measured one after the other. */
export type InlinePair = Record<SideName, InlineResult>;

export function memoryVerdict(peak_mb: number): Verdict {
  return verdict(`memory: peak of ${peak_mb} MB`, `${MAX_MEMORY_MB} MB`, peak_mb <= MAX_MEMORY_MB);
}

/** The verdict of a short run, whose memory says little about the target. */
export function memoryPerTaskVerdict(more_mb: number, unfinished: number): Verdict {
  const kb = (more_mb * 1_000) / unfinished;
  const text = `memory: ${kb.toFixed(1)} kB more for each unfinished task`;
  return verdict(text, `${MAX_KB_PER_TASK} kB`, kb <= MAX_KB_PER_TASK);
}

/** Compares the rates of inline calls: new divided by old, the median of all pairs. */
export function rateVerdict(pairs: readonly InlinePair[]): Verdict {
  const ratios = pairs.map((pair) => pair.new.rate / pair.old.rate);
  const interval = medianInterval(ratios, CONFIDENCE);
  const share = median(ratios);
  const range = `${interval.low.toFixed(3)} to ${interval.high.toFixed(3)}`;
  const text = `inline calls: median new/old ${share.toFixed(3)}, ${intervalName(interval)} ${range}`;
  return verdict(text, `${MIN_RATE_SHARE} or more`, share >= MIN_RATE_SHARE);
}

/** Compares the polls that were sent during the inline calls. See `MIN_POLL_SHARE`. */
export function pollVerdict(pairs: readonly InlinePair[]): Verdict {
  const share = median(pairs.map((pair) => pair.new.polls / pair.old.polls));
  const text = `polls during inline calls: median new/old ${share.toFixed(3)}`;
  return verdict(text, `${MIN_POLL_SHARE} or more`, share >= MIN_POLL_SHARE);
}

/** Checks that each run kept all tasks and all money. */
export function lossVerdict(found: readonly FinalState[]): Verdict {
  const sum = (field: keyof FinalState) => found.reduce((total, each) => total + each[field], 0);
  const counts = [
    `${sum('lost')} tasks lost`,
    `${sum('dead_effects')} effects given up`,
    `${sum('imbalances')} imbalances`,
    `${sum('differences')} differences between the books`,
  ];
  const text = `after ${found.length} runs: ${counts.join(', ')}`;
  // A task that ended too early counts as lost. More tasks than expected are wrong too.
  const met = found.every((each) => Object.values(each).every((count) => count === 0));
  return verdict(text, 'none', met);
}

function verdict(text: string, target: string, met: boolean): Verdict {
  return { text: `${text} (target: ${target}): ${met ? 'met' : 'MISSED'}`, met };
}
