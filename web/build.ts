import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { BunPlugin } from 'bun';
import tailwind from 'bun-plugin-tailwind';
import { buildDocs, type DocPage } from './build-docs.ts';
import { scriptsOfPages, sharedScript } from './build-pages.ts';

const ROOT = join(import.meta.dir, '..');
/** Where builds are. Each has a folder, named by the hash of its sources. */
const BUILDS = join(ROOT, '.cache/web');
/** What decides a build, beside the packages in bun.lock. */
const SOURCES = ['web', 'src', 'docs'];
/** Text that is sent compressed. Fonts and pictures are compressed already. */
const COMPRESSIBLE = /\.(?:js|css|svg|html)$/;

/** What the server reads of a build (src/http/web/build.ts). */
interface Manifest {
  readonly first: string;
  readonly script: string;
  readonly style: string;
  readonly icon: string;
  readonly font: string;
  readonly pages: Record<string, string[]>;
  readonly docs: Record<string, string>;
  /** Name and size in bytes of each file, as it is without compression. */
  readonly files: Record<string, number>;
}

/** Returns a hash of everything that a build is made of. */
function fingerprint(): string {
  const hash = createHash('sha256').update(Bun.version);
  for (const path of ['bun.lock', 'README.md', ...SOURCES.flatMap(filesBelow)].sort()) {
    hash.update(path).update(readFileSync(join(ROOT, path)));
  }
  return hash.digest('hex').slice(0, 16);
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:tsx?|css|svg|md|json)$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

/**
 * Builds the script that runs before all others. It shares no file with them, or the browser would load that file,
 * too, before it runs.
 */
async function bundleFirst(folder: string): Promise<{ name: string; size: number }> {
  const { outputs } = await Bun.build({
    entrypoints: [join(ROOT, 'web/first/main.ts')],
    outdir: folder,
    target: 'browser',
    format: 'iife',
    minify: true,
    naming: 'first-[hash].[ext]',
  });
  const [script] = outputs;
  if (!script) throw new Error('the build has no first script');
  return { name: relative(folder, script.path), size: script.size };
}

/** Answers the import `weir:docs` with the list of the pages of documentation. */
function docsPlugin(pages: readonly DocPage[]): BunPlugin {
  return {
    name: 'docs',
    setup(build) {
      build.onResolve({ filter: /^weir:docs$/ }, ({ path }) => ({ path, namespace: 'docs' }));
      build.onLoad({ filter: /.*/, namespace: 'docs' }, () => ({
        contents: `export const DOCS = ${JSON.stringify(pages)};`,
        loader: 'js',
      }));
    },
  };
}

async function bundle(folder: string): Promise<Manifest> {
  const pages = buildDocs(ROOT, folder);
  const first = await bundleFirst(folder);
  const { outputs, metafile } = await Bun.build({
    entrypoints: [join(ROOT, 'web/main.tsx')],
    outdir: folder,
    target: 'browser',
    format: 'esm',
    splitting: true,
    minify: true,
    metafile: true,
    publicPath: '/assets/',
    naming: {
      entry: '[name]-[hash].[ext]',
      chunk: '[name]-[hash].[ext]',
      asset: '[name]-[hash].[ext]',
    },
    define: { 'process.env.NODE_ENV': '"production"' },
    loader: { '.woff2': 'file' },
    plugins: [sharedScript(ROOT, filesBelow), tailwind, docsPlugin(pages)],
  });
  if (!metafile) throw new Error('the build says nothing about its files');
  const nameOf = (kind: string, pattern: RegExp): string => {
    const found = outputs.find((each) => each.kind === kind && pattern.test(each.path));
    if (!found) throw new Error(`the build has no ${pattern.source}`);
    return relative(folder, found.path);
  };
  const files = Object.fromEntries([
    [first.name, first.size] as const,
    ...outputs.map(({ path, size }) => [relative(folder, path), size] as const),
    ...pages.map(({ file }) => [file, statSync(join(folder, file)).size] as const),
  ]);
  const script = nameOf('entry-point', /\/main-\w+\.js$/);
  return {
    first: first.name,
    script,
    style: nameOf('asset', /\.css$/),
    icon: nameOf('asset', /icon-\w+\.svg$/),
    font: nameOf('asset', /geist-latin-wght-\S+\.woff2$/),
    pages: scriptsOfPages(metafile, script),
    docs: Object.fromEntries([
      ...pages.slice(0, 1).map(({ file }) => ['/docs', file] as const),
      ...pages.map(({ slug, file }) => [`/docs/${slug}`, file] as const),
    ]),
    files,
  };
}

function compress(folder: string, { files }: Manifest): void {
  for (const name of Object.keys(files)) {
    if (!COMPRESSIBLE.test(name)) continue;
    const bytes = readFileSync(join(folder, name));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes, { params }));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));
  }
}

/**
 * Builds the dashboard, unless these sources are built already. Prints the folder of the build. The
 * folder appears under its name when it is complete, so several processes may build at the same time.
 */
async function build(): Promise<string> {
  const name = fingerprint();
  const done = join(BUILDS, name);
  if (existsSync(done)) return done;
  const unfinished = join(BUILDS, `${name}.${process.pid}`);
  mkdirSync(unfinished, { recursive: true });
  try {
    const manifest = await bundle(unfinished);
    compress(unfinished, manifest);
    writeFileSync(join(unfinished, 'manifest.json'), JSON.stringify(manifest, null, 2));
    renameSync(unfinished, done);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(done)) throw error;
  }
  return done;
}

process.stdout.write(`${await build()}\n`);
