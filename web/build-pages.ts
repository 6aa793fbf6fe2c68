/** Which scripts the pages share, and which scripts each page loads. */
import { join } from 'node:path';
import type { BuildMetafile, BunPlugin } from 'bun';
import { PAGE_MODULES } from '../src/http/web/pages.ts';

/** The folders whose files most pages use. */
const SHARED = ['web/parts', 'web/api', 'web/live', 'web/shell'];
/** Small files that several pages use. */
const SMALL = [
  ...['catalogue/price-line.tsx', 'catalogue/queries.ts', 'catalogue/rank.ts'],
  ...['catalogue/status.tsx', 'pages/access/access-page.tsx'],
  ...['pages/usage/explore/figures.ts', 'pages/usage/key-name.tsx', 'pages/usage/outcomes.tsx'],
  ...['pages/usage/tabs.tsx'],
];
/** What only some pages use and is large. */
const APART = /palette\.tsx$|parts\/(?:menu|table|visible-rows)\.tsx?$|\.d\.ts$/;

/**
 * Puts what pages share into the first script. The bundler makes a file for each combination of pages that use
 * the same module, so a page would load a dozen files of some hundred bytes. Each file costs the browser
 * more than its bytes.
 */
export function sharedScript(root: string, filesBelow: (folder: string) => string[]): BunPlugin {
  const files = [
    ...SHARED.flatMap(filesBelow).filter((path) => /\.tsx?$/.test(path) && !APART.test(path)),
    ...SMALL.map((path) => join('web', path)),
  ];
  return {
    name: 'shared script',
    setup(build) {
      build.onResolve({ filter: /^weir:shared$/ }, () => ({ path: 'shared', namespace: 'weir' }));
      build.onLoad({ filter: /^shared$/, namespace: 'weir' }, () => ({
        contents: files.map((path) => `import ${JSON.stringify(join(root, path))};`).join('\n'),
        loader: 'ts',
      }));
      build.onLoad({ filter: /\/web\/main\.tsx$/ }, async ({ path }) => ({
        contents: `${await Bun.file(path).text()}\nimport 'weir:shared';`,
        loader: 'tsx',
      }));
    },
  };
}

/** Returns the names of the scripts that each page loads beside the first script, by the page's path. */
export function scriptsOfPages(
  { outputs }: BuildMetafile,
  first: string,
): Record<string, string[]> {
  const names = Object.keys(outputs);
  const loadedBy = (name: string, found: Set<string>): Set<string> => {
    if (found.has(name)) return found;
    found.add(name);
    for (const { path, kind } of outputs[name]?.imports ?? []) {
      if (kind === 'import-statement') loadedBy(path, found);
    }
    return found;
  };
  return Object.fromEntries(
    Object.entries(PAGE_MODULES).map(([page, module]) => {
      const name = names.find((each) => outputs[each]?.entryPoint?.endsWith(`/pages/${module}`));
      if (name === undefined) throw new Error(`the build has no script of ${module}`);
      const scripts = [...loadedBy(name, new Set())].map((path) => path.replace(/^\.\//, ''));
      return [page, scripts.filter((script) => script !== first)];
    }),
  );
}
