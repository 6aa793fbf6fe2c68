import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

const ManifestSchema = Type.Object({
  /** The script that begins the reads of a page, before all others. */
  first: Type.String(),
  script: Type.String(),
  style: Type.String(),
  icon: Type.String(),
  /** The face of all texts. */
  font: Type.String(),
  /** The scripts that each page loads beside `script`, by its path in `pages.ts`. */
  pages: Type.Record(Type.String(), Type.Array(Type.String())),
  /** The HTML of each page of documentation, by its path. */
  docs: Type.Record(Type.String(), Type.String()),
  files: Type.Record(Type.String(), Type.Number()),
});

/** A built dashboard: a folder with files whose names have a hash of their content. */
export interface WebBuild {
  readonly folder: string;
  readonly manifest: Static<typeof ManifestSchema>;
}

/** Reads the list of files of a build (web/build.ts). Throws if the folder holds no build. */
export function readBuild(folder: string): WebBuild {
  const text = readFileSync(join(folder, 'manifest.json'), 'utf8');
  return { folder, manifest: Value.Decode(ManifestSchema, JSON.parse(text)) };
}

/** The dashboard of this process. It is built while Weir already serves calls. */
export interface Dashboard {
  /** The build; `building` until it is ready, and `failed` if it could not be built. */
  readonly state: WebBuild | 'building' | 'failed';
}
