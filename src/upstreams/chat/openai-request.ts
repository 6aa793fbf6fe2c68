import { editItems } from '../../json/items.ts';
import { type Edit, editMembers, memberText } from '../../json/members.ts';
import { isObject } from '../../json/object.ts';
import {
  DIALECTS,
  type Dialect,
  dialectOfAddress,
  isKnownHost,
  OUTPUT_LIMITS,
  type OutputLimitName,
} from '../../protocols/dialects.ts';
import type { UpstreamCall } from '../contract.ts';
import { withoutExtraContent } from '../pass-through/foreign-signatures.ts';
import { commonEdits, loweredLimit, type UpstreamRequest } from '../pass-through/request.ts';
import type { OpenaiAddress } from '../transport/openai-address.ts';
import { mentions, refusedMember } from './refused-member.ts';

const STREAM_OPTIONS = 'stream_options';
const NONE: ReadonlySet<string> = new Set();

/** A request while its edits are collected. */
interface Draft {
  readonly call: UpstreamCall;
  readonly dialect: Dialect;
  readonly edits: Record<string, Edit>;
  /** Members that are in the request only because Weir wrote them. */
  readonly own: string[];
  /** Members that the upstream refused in this call. */
  readonly refused: ReadonlySet<string>;
}

/**
 * Returns the request of a call in the dialect of its channel. If the upstream refuses a member that
 * Weir itself added or renamed, the request is sent again at once, without the member. If the
 * upstream accepts that request, the channel remembers the member.
 */
export function chatRequest(
  call: UpstreamCall,
  address: OpenaiAddress,
  refused: ReadonlySet<string> = NONE,
): UpstreamRequest {
  const { dialect = dialectOfAddress(call.target.base_url) } = call.target;
  const draft = { call, dialect: DIALECTS[dialect], edits: commonEdits(call), own: [], refused };
  askForUsage(draft);
  limitOutput(draft);
  renameMembers(draft);
  replaceDeveloper(draft);
  removeExtraContent(draft);
  const mended = (status: number, text: string) => {
    const member = refusedMember(status, text, draft.own);
    if (member === undefined) return undefined;
    const all = new Set([...refused, member]);
    // A request must have a limit. If both names are refused, the refusal stands.
    if (OUTPUT_LIMITS.every((name) => all.has(name))) return undefined;
    return chatRequest(call, address, all);
  };
  return {
    path: address.path(call, '/chat/completions'),
    headers: address.headers(call.target.api_key),
    edits: draft.edits,
    mended: draft.own.length > 0 ? mended : undefined,
    onAccepted: refused.size > 0 ? () => remember(call, refused) : undefined,
  };
}

/**
 * Remembers the members that the upstream refused. A member that the client's own body mentions is
 * not remembered: the refusal may quote the client, and no client may change the requests of others.
 */
function remember({ body, target }: UpstreamCall, refused: ReadonlySet<string>): void {
  for (const member of refused) if (!mentions(body, member)) target.refused?.add(member);
}

function isRefused({ call, refused }: Draft, member: string): boolean {
  return refused.has(member) || call.target.refused?.has(member) === true;
}

/** Notes that Weir wrote a member. A member that was refused once is not refused again. */
function addOwn({ own, refused }: Draft, member: string): void {
  if (!refused.has(member)) own.push(member);
}

/** Asks for the usage of a stream. Weir charges by it, even if the client did not ask for it. */
function askForUsage(draft: Draft): void {
  const { call, dialect, edits } = draft;
  if (call.body['stream'] !== true) return;
  const options = call.body[STREAM_OPTIONS];
  if (!dialect.has_stream_options || isRefused(draft, STREAM_OPTIONS)) {
    // The client still gets the usage that it asked for (see `ChatStream`).
    edits[STREAM_OPTIONS] = null;
    return;
  }
  const isOfClient = isObject(options) && !call.is_translated;
  if (!isOfClient) addOwn(draft, STREAM_OPTIONS);
  edits[STREAM_OPTIONS] = isObject(options)
    ? (text) => editMembers(text, { include_usage: 'true' })
    : '{"include_usage":true}';
}

/** Members that limit the output in other protocols. */
const FOREIGN_LIMITS = ['max_output_tokens', 'generationConfig', 'generation_config'];

/**
 * Adds edits that limit the output to what the reservation covers. An upstream may obey only one of
 * the two names of the limit. So each name that the body has gets the lower limit. A name that the
 * upstream does not know is renamed, and never left out. If the body has no limit, one is added.
 * Names of other protocols are removed, because they could ask for more.
 */
function limitOutput(draft: Draft): void {
  const { call, edits } = draft;
  const { body, max_output_tokens: limit } = call;
  if (limit === undefined && OUTPUT_LIMITS.every((each) => body[each] === undefined)) return;
  const name = limitName(draft);
  const values = new Map<OutputLimitName, number>();
  for (const each of OUTPUT_LIMITS) {
    const value = body[each];
    const isKnown = each === name || knowsLimit(draft, each);
    if (!isKnown && value !== undefined) edits[each] = null;
    if (typeof value !== 'number') continue;
    const sent = isKnown ? each : name;
    values.set(sent, Math.min(value, values.get(sent) ?? value));
    if (sent !== each || call.is_translated) addOwn(draft, sent);
  }
  if (limit !== undefined && values.size === 0) {
    values.set(name, limit);
    addOwn(draft, name);
  }
  for (const [each, value] of values) {
    const sent = limit === undefined ? String(value) : loweredLimit(value, limit);
    if (limit !== undefined || body[each] !== value) edits[each] = sent;
  }
  if (limit === undefined) return;
  for (const foreign of FOREIGN_LIMITS) if (body[foreign] !== undefined) edits[foreign] = null;
}

/** Returns the name of the limit that Weir uses: the vendor's, or the other if that was refused. */
function limitName(draft: Draft): OutputLimitName {
  const { output_limit: preferred } = draft.dialect;
  if (!isRefused(draft, preferred)) return preferred;
  const other = OUTPUT_LIMITS.find((name) => name !== preferred) ?? preferred;
  return draft.refused.has(other) ? preferred : other;
}

/** True if the vendor obeys this name of the limit. `max_tokens` is OpenAI's older name. */
function knowsLimit(draft: Draft, name: OutputLimitName): boolean {
  return !isRefused(draft, name) && (name === 'max_tokens' || draft.dialect.output_limit === name);
}

/** Renames the members that have another name at the vendor, and removes what it refuses. */
function renameMembers({ call, dialect, edits }: Draft): void {
  const { body, body_text } = call;
  for (const name of dialect.left_out) if (body[name] !== undefined) edits[name] = null;
  for (const name in dialect.renamed) {
    const vendors = dialect.renamed[name] as string;
    const value = body[vendors] === undefined ? memberText(body_text, name) : undefined;
    if (body[name] !== undefined) edits[name] = null;
    if (value !== undefined) edits[vendors] = value;
  }
}

/** Replaces the role `developer` if the vendor does not know it. */
function replaceDeveloper({ call, dialect, edits }: Draft): void {
  const { messages } = call.body;
  if (dialect.has_developer_role || !Array.isArray(messages)) return;
  const isDeveloper = (message: unknown) => isObject(message) && message['role'] === 'developer';
  if (!messages.some(isDeveloper)) return;
  edits['messages'] = (text) =>
    editItems(text, (item, index) =>
      isDeveloper(messages[index]) ? editMembers(item, { role: '"system"' }) : item,
    );
}

/** Removes Gemini's signatures from tool calls, unless the upstream may be Google's. */
function removeExtraContent({ call, edits }: Draft): void {
  if (takesExtraContent(call)) return;
  const edit = withoutExtraContent(call.body['messages']);
  if (edit === undefined) return;
  const before = edits['messages'];
  edits['messages'] = typeof before === 'function' ? (text) => edit(before(text)) : edit;
}

/**
 * True if the upstream may read Gemini's signatures. An unknown host may be Google's own layer for
 * OpenAI's clients, or a proxy in front of it.
 */
function takesExtraContent({ model_abilities, target }: UpstreamCall): boolean {
  if (model_abilities) return model_abilities.signatures.maker === 'gemini';
  const { protocol, dialect, base_url } = target;
  if (protocol === 'azure-openai') return false;
  return dialect === undefined ? !isKnownHost(base_url) : dialect === 'compatible';
}
