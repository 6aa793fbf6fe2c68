/** `bin/bench cache --pairs`: what the cache costs calls whose bodies never repeat. */
import { removeFolder, throwawayFolder } from '../test/support/throwaway.ts';
import type { CachePairsOptions } from './cache-options.ts';
import { createCleanup } from './cleanup.ts';
import { uniqueTargetOf } from './contenders.ts';
import { conclude, measurePairs } from './pairs.ts';
import { findProgram } from './programs.ts';
import { Side, type SideName } from './side.ts';

/** Compares Weir with its cache (`new`) and without it (`old`). Returns the exit code: 1 if it is slower. */
export async function runCachePairs(options: CachePairsOptions): Promise<number> {
  const undo = createCleanup();
  try {
    const folder = throwawayFolder('cache');
    undo.add(() => removeFolder(folder));
    console.log('old: the cache is off · new: it is on; no two bodies are the same');
    const wrk = await findProgram('wrk');
    const side = (name: SideName) => {
      const env = { WEIR_CACHE: name === 'new' ? 'on' : 'off' };
      const made = new Side({ name, wrk, folder, env, target: uniqueTargetOf });
      undo.add(() => made.stop());
      return made;
    };
    const found = await measurePairs({ old: side('old'), new: side('new') }, options);
    return conclude(found, options.bound);
  } finally {
    await undo.run();
  }
}
