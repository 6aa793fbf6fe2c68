/** `bin/bench cache --pairs`: what the cache costs calls whose bodies never repeat. */
import { removeFolder, throwawayFolder } from '../test/support/throwaway.ts';
import type { CachePairsOptions } from './cache-options.ts';
import { createCleanup } from './cleanup.ts';
import { uniqueTargetOf } from './contenders.ts';
import { conclude, conclusionOf, type Found, measurePairs, pairText } from './pairs.ts';
import { findProgram } from './programs.ts';
import { machine, writeSection } from './results-file.ts';
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
    if (options.write) writeSection('cache-misses', missesSection(found, options));
    return conclude(found, options.bound);
  } finally {
    await undo.run();
  }
}

/** The section of `bench/RESULTS.md` about calls that the cache never answers. */
function missesSection(
  found: Found,
  { pairs, seconds, connections, bound }: CachePairsOptions,
): string {
  const rows = found.plain.flatMap((plain, at) => {
    const stream = found.stream[at];
    return [pairText('plain', plain), ...(stream ? [pairText('stream', stream)] : [])];
  });
  const { lines } = conclusionOf(found, bound);
  return `## Calls that the cache never answers

\`bin/bench cache --pairs ${pairs} --seconds ${seconds} --connections ${connections}\`, ${machine()}.
Weir without its cache (old) and with it (new), in turns of 1 s; no two bodies are the same. Each pair has new processes
and empty databases, twice. All processes share the cores.

\`\`\`text
${[...rows, '', ...lines].join('\n')}
\`\`\``;
}
