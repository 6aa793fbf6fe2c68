import { fencesOf, textOf } from './pages.ts';

/** The texts of a page's Mermaid diagrams. */
export function mermaidBlocks(path: string): string[] {
  return fencesOf(textOf(path))
    .filter(({ language }) => language === 'mermaid')
    .map(({ text }) => text);
}
