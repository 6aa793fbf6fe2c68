import { createRequire } from 'node:module';

type Vocabulary = typeof import('gpt-tokenizer/encoding/o200k_base');

const require = createRequire(import.meta.url);
let loaded: Vocabulary | undefined;

/**
 * Returns the o200k vocabulary. Loading it takes half a second of a core and 60 MB, and most calls need no
 * count, so only the first count loads it.
 */
export function o200k(): Vocabulary {
  loaded ??= require('gpt-tokenizer/encoding/o200k_base') as Vocabulary;
  return loaded;
}
