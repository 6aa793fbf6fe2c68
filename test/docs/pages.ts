import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFiles, ROOT } from '../house/sources.ts';

/** Paths of all Markdown pages. */
export function documentPaths(): string[] {
  return projectFiles('**/*.md');
}

export const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

export interface Fence {
  /** The word after the three backticks. */
  language: string;
  text: string;
  /** Line of the opening backticks, from 1. */
  line: number;
}

/** The fenced blocks of a page, in order. */
export function fencesOf(text: string): Fence[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1] ?? '',
    text: match[2] ?? '',
    line: text.slice(0, match.index).split('\n').length,
  }));
}

/** The page with spaces instead of its fenced blocks, so that positions stay. */
export function withoutFences(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, (block) => block.replace(/[^\n]/g, ' '));
}
