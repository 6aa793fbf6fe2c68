import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { mermaidBlocks } from '../docs/mermaid.ts';
import { documentPaths, textOf } from '../docs/pages.ts';
import { projectFiles } from '../house/sources.ts';
import { npmProgram, withPrograms } from './support/installed.ts';

/** The part of Mermaid that the test uses. */
interface Mermaid {
  parse(diagram: string): Promise<unknown>;
}

const installed = await npmProgram('mermaid', '12.3.0', { beside: ['happy-dom@21.0.4'] });

withPrograms([installed], ({ folder }) => {
  /** Returns Mermaid's parser. Mermaid cleans labels with a library that needs a `document`. */
  async function parser(): Promise<Mermaid> {
    const modules = join(folder, 'node_modules');
    if (!('document' in globalThis)) {
      const { Window } = await import(join(modules, 'happy-dom'));
      const window = new Window();
      Object.assign(globalThis, { window, document: window.document });
    }
    return (await import(join(modules, 'mermaid'))).default;
  }

  /** Returns the errors of Mermaid's own parser. */
  async function errorsIn(diagrams: readonly string[]): Promise<string[]> {
    const mermaid = await parser();
    const outcomes = await Promise.allSettled(diagrams.map((text) => mermaid.parse(text)));
    return outcomes.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []));
  }

  describe('Mermaid parses', () => {
    const pages = documentPaths().filter((path) => mermaidBlocks(path).length > 0);
    const files = projectFiles('docs/machines/*.mmd');

    test('diagrams are found', () => {
      expect(pages).toContain('docs/actors.md');
      expect(files).toContain('docs/machines/task.mmd');
    });

    test.each(files)('%s', async (path) => {
      expect(await errorsIn([textOf(path)])).toEqual([]);
    });

    test.each(pages)('the diagrams of %s', async (path) => {
      expect(await errorsIn(mermaidBlocks(path))).toEqual([]);
    });

    test('an error in a diagram is found', async () => {
      const [error] = await errorsIn(['stateDiagram-v2\n  state "open" as open {\n    [*] --> a']);
      expect(error).toContain('Parse error');
    });
  });
});
