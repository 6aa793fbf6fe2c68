/** Paths of parameters in error messages, e.g. `tools.0.input_schema` or `contents[1].parts[0]`. */
import type { ClientProtocol } from '../../protocols/names.ts';

/** The steps of a path: names of members, and positions in lists. */
export type Path = readonly string[];

const STEP = /\[['"]?([^\]'"]*)['"]?\]|([^.[\]/#]+)/g;

/**
 * Reads a path in any provider's form: with dots, with brackets, or as a JSON pointer (Bedrock). The
 * name of a message type at the start is left out (Gemini: `GenerateContentRequest.contents`).
 */
export function readPath(text: string): Path {
  const steps = [...text.matchAll(STEP)].map(([, bracketed, plain]) => bracketed ?? plain ?? '');
  return /^[A-Z]\w*Request$/.test(steps[0] ?? '') ? steps.slice(1) : steps;
}

/** True if a step is a position in a list. */
export const isPosition = (step: string) => /^\d+$/.test(step);

/**
 * Writes a path for an error message: `tools.0.name` for Anthropic's protocol, else
 * `tools[0].name`.
 */
export function writePath(path: Path, client: ClientProtocol): string {
  if (client === 'anthropic') return path.join('.');
  return path
    .map((step) => (isPosition(step) ? `[${step}]` : `.${step}`))
    .join('')
    .slice(1);
}
