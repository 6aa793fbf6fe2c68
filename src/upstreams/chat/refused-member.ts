import { isObject } from '../../json/object.ts';

/** A request with an unknown member is refused with one of these statuses. */
const STATUSES = [400, 422];
/** Codes with which OpenAI names a refused member in `error.param` (OpenAI docs: Error codes). */
const CODES = ['unknown_parameter', 'unsupported_parameter'];
/**
 * The starts of messages that name a refused member. A message may quote the client's text, so only
 * its start counts. `NAME` stands for the member.
 */
const STARTS = [
  // OpenAI, Azure and gateways (QuantumNous/new-api#418, Pythagora-io/gpt-pilot#1022).
  "Unknown parameter: 'NAME'",
  "Unsupported parameter: 'NAME'",
  'Unrecognized request argument supplied: NAME',
  // Groq (vercel/ai#1578).
  "property 'NAME' is unsupported",
  // vLLM (1Panel-dev/MaxKB#2912, voideditor/void#128).
  "[{'type': 'extra_forbidden', 'loc': ('body', 'NAME')",
  // Google's JSON parser.
  'Invalid JSON payload received. Unknown name "NAME"',
  // serde, with which DeepSeek's and other servers read JSON.
  'unknown field `NAME`',
];
/** The members of an error body that may hold a list of refused members. */
const LISTS = ['error', 'errors', 'detail', 'message'];
const MAX_DEPTH = 5;

/**
 * Returns the one of `members` that an error response refuses by its name; undefined if it refuses
 * none. Each form of refusal has a source above or in `test/upstreams/chat/refusals.ts`.
 */
export function refusedMember(
  status: number,
  text: string,
  members: readonly string[],
): string | undefined {
  if (!STATUSES.includes(status)) return undefined;
  const body = parsed(text);
  return members.find((member) => refuses(body, member, 0));
}

function refuses(value: unknown, member: string, depth: number): boolean {
  if (depth > MAX_DEPTH) return false;
  if (typeof value === 'string') {
    if (STARTS.some((start) => value.startsWith(start.replace('NAME', member)))) return true;
    // Some gateways send the error of their upstream as a text.
    return value.startsWith('{') && refuses(parsed(value), member, depth + 1);
  }
  if (Array.isArray(value)) return value.some((each) => refuses(each, member, depth + 1));
  if (!isObject(value)) return false;
  const { param, code, type, loc } = value;
  if (param === member && CODES.includes(String(code))) return true;
  // Pydantic names the place of a refused member, e.g. ["body","stream_options"]. Its member
  // `input` quotes the client, so it is never read (editor-code-assistant/eca#231).
  if (type === 'extra_forbidden' && Array.isArray(loc)) return loc.join('.') === `body.${member}`;
  return LISTS.some((name) => refuses(value[name], member, depth + 1));
}

/** True if a request names a member anywhere but at its top level. */
export function mentions(body: Readonly<Record<string, unknown>>, member: string): boolean {
  return JSON.stringify({ ...body, [member]: undefined }).includes(member);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
