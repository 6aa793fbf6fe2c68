import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { importsOf, projectFiles, ROOT } from './sources.ts';

/** Imports point down only. The first matching entry is a path's floor. */
const FLOORS: [prefix: string, floor: number][] = [
  ['src/machines/', 1],
  ['src/json/', 1],
  ['src/protocols/', 1],
  ['src/replay/', 1],
  ['src/config/', 2],
  ['src/errors/', 2],
  ['src/access/', 2],
  ['src/catalogue/', 2],
  ['src/storage/', 2],
  ['src/mail/', 2],
  ['src/upstreams/', 2],
  ['db/', 2],
  ['src/actors/', 3],
  ['src/inference/', 4],
  ['src/http/', 5],
  ['src/start/', 6],
  ['src/main.ts', 6],
];

/** What the dashboard may run in a browser. */
const PURE = /^src\/(?:machines|access|json|replay)\//;

/** Files that no browser runs: types of the server's answers, and the build, which takes its list of pages. */
const NOT_IN_BROWSER = ['web/api/types.ts', 'web/build-pages.ts'];

/** Folders that the server must not import. */
const OUTSIDE = ['test/', 'bench/', 'simulator/', 'web/', 'docs/', 'bin/', 'terminal/'];

function floorOf(path: string): number | undefined {
  return FLOORS.find(([prefix]) => path.startsWith(prefix))?.[1];
}

const sources = projectFiles('{src,db}/**/*.{ts,tsx}').filter(
  (path) => path !== 'db/drizzle.config.ts',
);
const imports = new Map<string, string[]>();
for (const path of [...sources, ...projectFiles('web/**/*.{ts,tsx}')]) {
  imports.set(path, await importsOf(path));
}

/** Every folder that holds source files, at any depth, and the root. */
const FOLDERS = [
  ...new Set([
    '',
    ...sources.flatMap((path) =>
      path.split('/').map((_, depth, parts) => parts.slice(0, depth).join('/')),
    ),
  ]),
].sort();

/** The largest number of imports between the rooms of a folder, so that rooms stay separate. */
const MAX_ARROWS: [folder: string, arrows: number][] = [
  ['src/actors', 15],
  ['src/upstreams', 20],
];

describe('the floors of the house', () => {
  test('docs/rooms.md has one line for every folder', async () => {
    const page = await Bun.file(join(ROOT, 'docs/rooms.md')).text();
    const rooms = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, room]) => room);
    expect(rooms.map(String).sort()).toEqual(
      FOLDERS.filter((folder) => !['', 'src'].includes(folder)),
    );
  });

  test('every source file has one', () => {
    expect(sources.filter((path) => floorOf(path) === undefined)).toEqual([]);
  });

  test('imports point down or sideways, never up', () => {
    const upward = sources.flatMap((path) =>
      (imports.get(path) ?? [])
        .filter((target) => (floorOf(target) ?? 0) > (floorOf(path) ?? 0))
        .map((target) => `${path} -> ${target}`),
    );
    expect(upward).toEqual([]);
  });

  test('the server imports nothing of its tests, its simulator and its dashboard', () => {
    const outward = sources
      // The startup code may serve the dashboard's page.
      .filter((path) => floorOf(path) !== 6)
      .flatMap((path) =>
        (imports.get(path) ?? [])
          .filter((target) => OUTSIDE.some((folder) => target.startsWith(folder)))
          .map((target) => `${path} -> ${target}`),
      );
    expect(outward).toEqual([]);
  });

  test('machines import xstate and each other, nothing else', () => {
    const foreign = sources
      .filter((path) => path.startsWith('src/machines/'))
      .flatMap((path) =>
        (imports.get(path) ?? [])
          .filter((target) => target !== 'xstate' && !target.startsWith('src/machines/'))
          .map((target) => `${path} -> ${target}`),
      );
    expect(foreign).toEqual([]);
  });

  test('the dashboard imports pure rules of the server and nothing else', () => {
    const foreign = [...imports].flatMap(([path, targets]) =>
      targets
        .filter(() => path.startsWith('web/') && !NOT_IN_BROWSER.includes(path))
        .filter((target) => /^(src|db)\//.test(target) && !PURE.test(target))
        .map((target) => `${path} -> ${target}`),
    );
    expect(foreign).toEqual([]);
  });

  test('imports form no circle', () => {
    expect(findCircle(imports)).toEqual([]);
  });

  test.each(['bench', 'simulator', 'docs', 'terminal'])(
    'imports of %s form no circle',
    async (folder) => {
      const graph = new Map<string, string[]>();
      for (const path of projectFiles(`${folder}/**/*.ts`)) graph.set(path, await importsOf(path));
      expect(graph.size).toBeGreaterThan(0);
      expect(findCircle(graph)).toEqual([]);
    },
  );

  test.each([...FOLDERS, 'web', 'web/pages'])('the rooms of %s form no circle', (folder) => {
    expect(findCircle(arrowsWithin(folder, imports))).toEqual([]);
  });

  test.each(MAX_ARROWS)('%s has at most %d arrows between its rooms', (folder, max_arrows) => {
    const arrows = [...arrowsWithin(folder, imports)].flatMap(([room, targets]) =>
      targets.map((target) => `${room} -> ${target}`),
    );
    console.log(`${arrows.length} arrows in ${folder}:\n  ${arrows.join('\n  ')}`);
    expect(arrows.length).toBeLessThanOrEqual(max_arrows);
  });
});

/**
 * The arrows (imports) between the rooms of a folder. A room is a folder or a file directly below it. Imports
 * inside one room, or of files outside the folder, are not counted.
 */
function arrowsWithin(folder: string, graph: Map<string, string[]>): Map<string, string[]> {
  const prefix = folder === '' ? '' : `${folder}/`;
  const roomOf = (path: string) =>
    path.startsWith(prefix) ? path.slice(prefix.length).split('/')[0] : undefined;
  const arrows = new Map<string, string[]>();
  for (const [path, targets] of graph) {
    const room = roomOf(path);
    if (room === undefined) continue;
    const others = targets
      .filter((target) => graph.has(target))
      .map(roomOf)
      .filter((other) => other !== undefined && other !== room);
    const all = new Set([...(arrows.get(room) ?? []), ...others]);
    arrows.set(room, [...all].map(String).sort());
  }
  return arrows;
}

/** The paths of the first circle found; empty if there is none. */
function findCircle(graph: Map<string, string[]>): string[] {
  const finished = new Set<string>();
  const walk = (path: string, trail: string[]): string[] => {
    const seen_at = trail.indexOf(path);
    if (seen_at >= 0) return [...trail.slice(seen_at), path];
    if (finished.has(path)) return [];
    for (const target of graph.get(path) ?? []) {
      const circle = walk(target, [...trail, path]);
      if (circle.length > 0) return circle;
    }
    finished.add(path);
    return [];
  };
  for (const path of graph.keys()) {
    const circle = walk(path, []);
    if (circle.length > 0) return circle;
  }
  return [];
}
