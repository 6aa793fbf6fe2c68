/**
 * The names in each protocol's requests, read from the types of the providers' own packages. So a
 * test knows which words a client's protocol lacks, without any list of Weir.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientProtocol } from '../../../src/protocols/names.ts';

const MODULES = join(import.meta.dir, '../../../node_modules');
const SHARED = 'openai/resources/shared.d.ts';
const SOURCES: Record<ClientProtocol, { files: string[]; roots: string[] }> = {
  openai: {
    files: ['openai/resources/chat/completions/completions.d.ts', SHARED],
    roots: ['ChatCompletionCreateParamsBase'],
  },
  responses: {
    files: ['openai/resources/responses/responses.d.ts', SHARED],
    roots: ['ResponseCreateParamsBase'],
  },
  anthropic: {
    files: ['@anthropic-ai/sdk/resources/messages/messages.d.ts'],
    roots: ['MessageCreateParamsBase'],
  },
  gemini: {
    files: ['@google/genai/dist/genai.d.ts'],
    roots: ['GenerateContentConfig', 'Content'],
  },
};
/**
 * Names that the packages lack: those of Gemini's REST API (Gemini API docs: generateContent), and
 * the sampling parameters of the version 2023-06-01 of messages.
 */
const MORE_NAMES: Partial<Record<ClientProtocol, string[]>> = {
  gemini: ['contents', 'generationConfig', 'systemInstruction', 'toolConfig'],
  anthropic: ['temperature', 'top_p', 'top_k'],
};

interface Names {
  /** Members of the request's types. */
  members: ReadonlySet<string>;
  /** Values of `type`, e.g. `tool_use`. */
  tags: ReadonlySet<string>;
}

/** The names of each protocol, Gemini's also in `snake_case`. */
export const REQUEST_NAMES = Object.fromEntries(
  Object.entries(SOURCES).map(([protocol, source]) => {
    const { members, tags } = namesOf(source);
    const all = [...members, ...(MORE_NAMES[protocol as ClientProtocol] ?? [])];
    if (protocol !== 'gemini') return [protocol, { members: new Set(all), tags }];
    return [protocol, { members: new Set([...all, ...all.map(snake)]), tags }];
  }),
) as unknown as Record<ClientProtocol, Names>;

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function namesOf({ files, roots }: { files: string[]; roots: string[] }): Names {
  const text = files.map((file) => readFileSync(join(MODULES, file), 'utf8')).join('\n');
  const bodies = declarationsOf(text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, ''));
  const [members, tags, seen] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const open = [...roots];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    for (const body of bodies.get(name) ?? []) {
      for (const [, member = ''] of body.matchAll(/(?:^|[{;])\s*'?([A-Za-z_]\w*)'?\??:/gm)) {
        members.add(member);
      }
      for (const [, tag = ''] of body.matchAll(/\btype\??: '(\w+)'/g)) tags.add(tag);
      open.push(...(body.match(/\b[A-Z]\w+\b/g) ?? []));
    }
  }
  return { members, tags };
}

/** The text of each interface, class and type, by name. Several may have the same name. */
function declarationsOf(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const add = (name: string, body: string) => found.set(name, [...(found.get(name) ?? []), body]);
  for (const match of text.matchAll(/\b(?:interface|class) (\w+)([^{;]*)\{/g)) {
    const start = match.index + match[0].length;
    let [end, depth] = [start, 1];
    for (; depth > 0 && end < text.length; end += 1) {
      if (text[end] === '{') depth += 1;
      if (text[end] === '}') depth -= 1;
    }
    add(match[1] ?? '', `${match[2]} ${text.slice(start, end - 1)}`);
  }
  for (const [, name = '', body = ''] of text.matchAll(/\btype (\w+) = ([^;]+);/g)) add(name, body);
  return found;
}
