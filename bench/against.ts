/**
 * Compares the speed of the working tree with the speed of a commit. Both versions run at the same
 * time, but only one of them is under load.
 */
import { join } from 'node:path';
import { removeFolder, throwawayFolder } from '../test/support/throwaway.ts';
import {
  type Checkout,
  checkOut,
  copyWorkingTree,
  resolveCommit,
  sameSimulator,
} from './checkout.ts';
import { createCleanup } from './cleanup.ts';
import type { AgainstOptions } from './options.ts';
import { conclude, measurePairs } from './pairs.ts';
import { findProgram } from './programs.ts';
import { Side, type SideName } from './side.ts';

/** Returns the exit code: 1 if the working tree is slower. */
export async function runAgainst(options: AgainstOptions): Promise<number> {
  const commit = await resolveCommit(options.commit);
  const undo = createCleanup();
  try {
    const folder = throwawayFolder('against');
    undo.add(() => removeFolder(folder));
    console.log(`old: ${commit.slice(0, 12)} · new: the working tree`);
    const old = await checkOut(commit, join(folder, 'old'));
    const now = await copyWorkingTree(join(folder, 'new'));
    await announceSimulators(old, now, options.one_simulator);
    const wrk = await findProgram('wrk');
    const side = (name: SideName, version: Checkout) => {
      const simulator_of = options.one_simulator ? now : version;
      const made = new Side({ name, version, simulator_of, wrk, folder });
      undo.add(() => made.stop());
      return made;
    };
    const sides = { old: side('old', old), new: side('new', now) };
    const found = await measurePairs(sides, options);
    return conclude(found, options.bound);
  } finally {
    await undo.run();
  }
}

async function announceSimulators(old: Checkout, now: Checkout, one: boolean): Promise<void> {
  if (one) console.log('Both versions use the simulator of the working tree.');
  else if (!(await sameSimulator(old, now))) {
    console.log(
      'The simulators differ, and each version uses its own. So a part of the measured difference ' +
        'may come from the simulators. To exclude this, use --one-simulator.',
    );
  }
}
