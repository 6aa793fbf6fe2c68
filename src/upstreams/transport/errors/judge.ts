import type { Fault } from '../../../errors/fault.ts';
import type { ChannelProtocol } from '../../../protocols/names.ts';
import type { TerminalUpstreamError } from '../../contract.ts';
import { type ErrorEvidence, readEvidence } from './evidence.ts';
import type { ErrorRule } from './rule.ts';
import { ERROR_RULES } from './table.ts';

/** An error response of an upstream, and what is known of the request. */
export interface Refusal {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  readonly text: string;
  /** The protocol of the channel; undefined if it is not known. */
  readonly protocol?: ChannelProtocol | undefined;
  /**
   * Returns the client's request as text. An error message may quote the request, and a client must
   * not disable a channel by sending the words of a provider's error.
   */
  readonly requestText: () => string;
}

/** Whose fault a refusal is, and what it says. */
export interface Verdict {
  readonly fault: Fault;
  /** The error for the client, if every channel refuses the request like this. */
  readonly error_id: TerminalUpstreamError['error_id'] | undefined;
  readonly evidence: ErrorEvidence;
  /** The rule that decided; undefined if only the status or the named parameter decided. */
  readonly rule: ErrorRule | undefined;
}

/** Only these statuses can be the caller's fault. */
const CALLER_STATUSES = [400, 409, 413, 415, 422];
const OVERLOADED = [503, 529];
/** The order in which rules of the same rank win. */
const ORDER = ['account', 'broken', 'throttle', 'overload', 'unclear', 'caller'] as const;
/** Parameters that the channel's configuration decides, not the client. */
const CONFIGURED =
  /^(?:model|model_id|modelid|model_name|api-version|api_version|version|anthropic_version)$/i;
/**
 * Words for objects that a client names by id. A 404 about such an object is the caller's fault if
 * the message contains an id of the request.
 */
const CLIENT_OBJECTS = /\b(?:files?|container|document|image|skill|prompt|response|voice|item)\b/i;
/** An id in a message: it contains a digit, a hyphen or an underscore. */
const ID = /[\w-]*[\d_-][\w-]{3,}/g;
/** About one request that is larger than the account's limit: to wait does not help. */
const TOO_LARGE_FOR_ACCOUNT = /^request too large/i;
/** Groq sends it with 413. */
const TOO_LARGE_STATUSES = [413, 429];
/** Statuses that are about the account with a protocol, whatever the error says. */
const ACCOUNT_STATUSES: Partial<Record<ChannelProtocol, readonly number[]>> = { deepl: [403, 456] };
/** The path of a provider's error in the error of a relay, e.g. OpenRouter's `error.metadata.raw`. */
const ENVELOPE = /^.*\.(?:raw|message)\./;
/** The name of a parameter in a message: in quotes, or at the start. */
const NAMED =
  /(?<=['"`])[a-z]\w*(?:[.[]\w+\]?)*(?=['"`])|^[a-z]\w*(?:\.\w+)*(?=: | (?:must|should|is|cannot|may)\b)|\b[a-z]+_[a-z_]+\b/g;

const byCode = new Map<string, ErrorRule[]>();
const byWords: ErrorRule[] = [];
for (const rule of ERROR_RULES) {
  if (rule.words) byWords.push(rule);
  else if (rule.code) byCode.set(rule.code, [...(byCode.get(rule.code) ?? []), rule]);
}

/** Decides whose fault a refusal is, by what the refusal proves (P19). */
export function judge(refusal: Refusal): Verdict {
  const evidence = readEvidence(refusal.text, refusal.headers);
  const { rule, isQuoted } = decidingRule(refusal, evidence);
  const verdict = (fault: Fault, error_id?: Verdict['error_id']): Verdict => ({
    ...{ fault, error_id, evidence, rule },
  });
  const { status } = refusal;
  const isTooLarge =
    TOO_LARGE_STATUSES.includes(status) && TOO_LARGE_FOR_ACCOUNT.test(evidence.message);
  if (isTooLarge && rule?.fault !== 'account') return verdict('unclear', 'payload_too_large');
  if (isQuoted) return verdict(faultOfStatus(refusal, evidence));
  if (rule?.fault === 'caller') {
    return mayBeCaller(status, rule)
      ? verdict('caller', callerError(status, rule))
      : verdict(status >= 500 ? 'unclear' : faultOfStatus(refusal, evidence));
  }
  if (isAboutObject(status, rule, evidence)) {
    const isCaller = status === 404 && namesObject(refusal, evidence);
    return isCaller ? verdict('caller', 'invalid_request') : verdict('unclear');
  }
  // A general code at a status of overload proves less than the status.
  if (rule?.fault === 'broken' && rule.is_general && OVERLOADED.includes(status)) {
    return verdict('overload');
  }
  if (rule) return verdict(rule.fault);
  if (CALLER_STATUSES.includes(status) && namesParameter(refusal, evidence)) {
    return verdict('caller', callerError(status, rule));
  }
  const fault = faultOfStatus(refusal, evidence);
  return verdict(fault, status === 413 ? 'payload_too_large' : undefined);
}

/**
 * Returns the rule that decides. `isQuoted` is true if the message has the words of a rule, but the
 * client's request has these words too. Then the words prove nothing.
 */
function decidingRule(
  refusal: Refusal,
  { codes, words }: ErrorEvidence,
): { rule: ErrorRule | undefined; isQuoted: boolean } {
  const found = codes.flatMap(({ value, at }) =>
    prefixes(value).flatMap((code) =>
      (byCode.get(code) ?? []).filter((rule) =>
        rule.at === undefined ? !/^\d+$/.test(code) : rule.at === at.replace(ENVELOPE, ''),
      ),
    ),
  );
  let request: string | undefined;
  let isQuoted = false;
  for (const rule of byWords) {
    const [said] = rule.words?.exec(words) ?? [];
    if (said === undefined || !holds(rule, refusal)) continue;
    // To ignore such a rule would let a misleading code decide.
    if (rule.fault === 'caller' || rule.overrules) {
      found.push(rule);
      continue;
    }
    request ??= refusal.requestText();
    if (quotes(request, said, rule)) isQuoted = true;
    else found.push(rule);
  }
  const holding = found.filter((rule) => holds(rule, refusal));
  const exact = holding.filter((rule) => !rule.is_general);
  const overruling = exact.filter((rule) => rule.overrules);
  const ranked = [overruling, exact, holding].find(({ length }) => length > 0) ?? [];
  const fault = ORDER.find((each) => ranked.some((rule) => rule.fault === each));
  const decided = ranked.filter((rule) => rule.fault === fault);
  const rule = decided.find(({ error_id }) => error_id !== undefined) ?? decided[0];
  return { rule, isQuoted: isQuoted && !isExact(rule) };
}

/** True if the request has the words `said` of an error message, or similar ones. */
function quotes(request: string, said: string, { words }: ErrorRule): boolean {
  return request.includes(JSON.stringify(said).slice(1, -1)) || (words?.test(request) ?? false);
}

/** `a.b.c` → `a.b.c`, `a.b`, `a`: codes of Alibaba and Volcengine become more exact after each dot. */
function prefixes(code: string): string[] {
  const parts = code.split('.');
  if (parts.length > 4 || /\s/.test(code)) return [code];
  const all = parts.map((_, cut) => parts.slice(0, parts.length - cut).join('.'));
  const [whole = code] = all;
  // The most exact code that a rule knows is the only one that counts.
  const known = all.find((each) => byCode.has(each));
  return [known ?? whole];
}

function holds({ statuses, protocols, at }: ErrorRule, { status, protocol }: Refusal): boolean {
  if (statuses && !statuses.includes(status)) return false;
  // A number means something else at every provider, so it needs the protocol.
  if (protocol === undefined) return protocols === undefined || at === undefined;
  return protocols?.includes(protocol) ?? true;
}

/**
 * True if a rule that blames the caller may do so at this status. A content filter may refuse a
 * request with any 4xx: Stability and OpenRouter use 403.
 */
function mayBeCaller(status: number, { error_id, statuses }: ErrorRule): boolean {
  if (CALLER_STATUSES.includes(status) || (statuses?.includes(status) ?? false)) return true;
  return error_id === 'content_policy_violation' && status >= 400 && status < 500;
}

function callerError(
  status: number,
  rule: ErrorRule | undefined,
): TerminalUpstreamError['error_id'] {
  return rule?.error_id ?? (status === 413 ? 'payload_too_large' : 'invalid_request');
}

/** True if the error names a parameter that the client can set. */
function namesParameter({ requestText }: Refusal, { message, param }: ErrorEvidence): boolean {
  if (message === '') return false;
  if (param !== null) return !CONFIGURED.test(param.split(/[.[]/).at(-1) ?? '');
  const names = (message.match(NAMED) ?? []).filter((name) => !CONFIGURED.test(name));
  if (names.length === 0) return false;
  const request = requestText();
  return names.some((name) => {
    const first = name.split(/[.[]/)[0] ?? '';
    return first !== '' && request.includes(`"${first}":`);
  });
}

/**
 * True if the error is about an object that clients name, e.g. a file. A general error code then
 * proves nothing about the channel.
 */
function isAboutObject(
  status: number,
  rule: ErrorRule | undefined,
  { message }: ErrorEvidence,
): boolean {
  return [403, 404].includes(status) && !isExact(rule) && CLIENT_OBJECTS.test(message);
}

/** True if a rule with an exact code or words decided. */
function isExact(rule: ErrorRule | undefined): boolean {
  return rule !== undefined && rule.is_general === undefined;
}

/** True if the message is about an object whose id is in the client's request. */
function namesObject({ requestText }: Refusal, { message }: ErrorEvidence): boolean {
  const ids = message.match(ID) ?? [];
  if (ids.length === 0) return false;
  const request = requestText();
  return ids.some((id) => request.includes(id));
}

/** What a status means if the error itself proves nothing. */
function faultOfStatus({ status, protocol }: Refusal, { message }: ErrorEvidence): Fault {
  if (protocol !== undefined && ACCOUNT_STATUSES[protocol]?.includes(status)) return 'account';
  // A model API answered, so the address is right, and the request may be the reason.
  if (status === 404 && message !== '') return 'unclear';
  switch (status) {
    case 401:
    case 402:
    case 407:
      return 'account';
    case 429:
      return 'throttle';
    case 503:
    case 529:
      return 'overload';
    case 404:
    case 405:
    case 408:
    case 410:
    case 421:
    case 424:
      return 'broken';
    default:
      return status >= 400 && status < 500 ? 'unclear' : 'broken';
  }
}
