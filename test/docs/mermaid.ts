import { Window } from 'happy-dom';
import { fencesOf, textOf } from './pages.ts';

/** The texts of a page's Mermaid diagrams. */
export function mermaidBlocks(path: string): string[] {
  return fencesOf(textOf(path))
    .filter(({ language }) => language === 'mermaid')
    .map(({ text }) => text);
}

/** What Mermaid's own parser says of each diagram that it refuses. */
export async function mermaidErrors(diagrams: string[]): Promise<string[]> {
  const mermaid = await parser();
  const outcomes = await Promise.allSettled(diagrams.map((text) => mermaid.parse(text)));
  return outcomes.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []));
}

/** Mermaid cleans labels with a library that needs a document, also where nothing is drawn. */
async function parser() {
  if (!('document' in globalThis)) {
    const window = new Window();
    Object.assign(globalThis, { window, document: window.document });
  }
  return (await import('mermaid')).default;
}
