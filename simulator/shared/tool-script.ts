/**
 * Scripted tool calls, e.g. `[[call Bash {"command":"ls"}]] [[call Read {"file_path":"a"}]]` in a user
 * text. The first call is the first answer, each tool result leads to the next call, and after the
 * last result the answer is text. So a test decides what an agent does, one call per turn.
 */
import { isObject, type JsonObject } from './json.ts';

export interface ScriptedCall {
  name: string;
  arguments: JsonObject;
}

const OPENING = /\[\[call ([\w-]+) (?=\{)/g;
const CLOSING = '}]]';

/** Follows one conversation, in its order. */
export class ToolScript {
  private calls: ScriptedCall[] = [];
  private results = 0;

  /** Reads a text of the user. A new script replaces an earlier one. */
  user(text: string): void {
    const calls = callsIn(text);
    if (calls.length === 0) return;
    this.calls = calls;
    this.results = 0;
  }

  /** Notes a tool result. */
  result(): void {
    this.results += 1;
  }

  /** The call to make now; undefined if the script has ended, or if there is none. */
  get next(): ScriptedCall | undefined {
    return this.calls[this.results];
  }

  get isGiven(): boolean {
    return this.calls.length > 0;
  }
}

/** Returns the calls in a text. The arguments of a call may contain the script of a sub-agent. */
function callsIn(text: string): ScriptedCall[] {
  const calls: ScriptedCall[] = [];
  OPENING.lastIndex = 0;
  for (let found = OPENING.exec(text); found; found = OPENING.exec(text)) {
    const end = readCall(text, found[1] as string, OPENING.lastIndex, calls);
    if (end !== undefined) OPENING.lastIndex = end;
  }
  return calls;
}

/** Adds the call whose JSON begins at `from`. Returns where it ends; undefined if it never ends. */
function readCall(
  text: string,
  name: string,
  from: number,
  calls: ScriptedCall[],
): number | undefined {
  for (let at = text.indexOf(CLOSING, from); at >= 0; at = text.indexOf(CLOSING, at + 1)) {
    const value = parsed(text.slice(from, at + 1));
    if (value === undefined) continue;
    calls.push({ name, arguments: value });
    return at + CLOSING.length;
  }
  return undefined;
}

function parsed(json: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
