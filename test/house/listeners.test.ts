import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFiles, ROOT } from './sources.ts';

/** `signal.addEventListener('abort', onAbort)`, with its method and arguments. */
const CALL = /\.(add|remove)EventListener\(([^()]*(?:\([^()]*\)[^()]*)*)\)/g;

/** The arguments of each call of the method, without line breaks. */
function callsIn(text: string, method: string): string[] {
  return [...text.matchAll(CALL)].flatMap(([, called, args = '']) =>
    called === method ? [args.replaceAll(/\s+/g, ' ')] : [],
  );
}

test('each listener has a name and is removed again, so that none is left behind', () => {
  const wrong = projectFiles('{src,db}/**/*.ts').flatMap((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    const removed = callsIn(text, 'remove');
    // A function that is written in the call is a new one each time: it cannot be removed.
    return callsIn(text, 'add')
      .filter((args) => !/^'\w+', \w+$/.test(args) || !removed.includes(args))
      .map((args) => `${path}: addEventListener(${args})`);
  });
  expect(wrong).toEqual([]);
});
