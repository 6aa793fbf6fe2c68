/**
 * Weir's own messages for the problems that providers report. A client gets such a message if the
 * provider's message names things that the client's protocol does not have.
 */

/** A pattern of providers' messages, and the end of the sentence `<parameter> …`. */
type Problem = readonly [pattern: RegExp, problem: string | ((match: RegExpExecArray) => string)];

const NOT_SUPPORTED = 'is not supported by the model.';
const MISSING = 'is required.';

/** Problems of one parameter. The first entry whose pattern matches is used. */
const PROBLEMS: readonly Problem[] = [
  [/extra inputs|extraneous/i, NOT_SUPPORTED],
  [/schema/i, 'is not a JSON schema that the model accepts.'],
  [
    /pattern[^'"`]*(['"`])(\^\S{1,100}\$)\1/i,
    ([, , pattern]) => `must match the pattern ${pattern}.`,
  ],
  [/pattern|must start with|invalid (?:function )?name/i, 'has a character that is not allowed.'],
  [/at most (\d+) characters/i, ([, most]) => `must have at most ${most} characters.`],
  [
    /(?:less than or equal to|at most|<=|maximum(?: value)?(?: of| is)?) (-?\d+(?:\.\d+)?)/i,
    ([, most]) => `must be at most ${most}.`,
  ],
  [
    /(?:greater than or equal to|at least|>=|minimum(?: value)?(?: of| is)?) (-?\d+(?:\.\d+)?)/i,
    ([, least]) => `must be at least ${least}.`,
  ],
  [
    /from (-?\d+(?:\.\d+)?) (?:\w+ )?to (-?\d+(?:\.\d+)?)/i,
    ([, least, most]) => `must be from ${least} to ${most}.`,
  ],
  [/\d+ > (\d+)/, ([, most]) => `must be at most ${most}.`],
  [/non-?empty|\bempty\b/i, 'must not be empty.'],
  [
    /unknown|unrecogni[sz]ed|cannot find field|not (?:supported|permitted|allowed)|unsupported|not support/i,
    NOT_SUPPORTED,
  ],
  [/required|missing|not specified|must be set/i, MISSING],
  [/duplicate|must be unique/i, 'must be unique.'],
  [/too (?:long|large|many|big)|exceed/i, 'is too large for the model.'],
  [/should be|expected|invalid type|not repeating|type_/i, 'has a wrong type or value.'],
];

const DEFAULT_PROBLEM = 'is not accepted by the model.';

/** Problems of the whole request, as sentences. */
const SENTENCES: readonly [pattern: RegExp, sentence: string][] = [
  [
    /^(?=[\s\S]*(?:tool_use|tool_call|function_call|function (?:call|response)))(?=[\s\S]*(?:without|follow|preceding|immediately|equal|found))/i,
    'Each tool call needs one result, and the result must directly follow the call.',
  ],
  [
    /\bimage\b[\s\S]*\b(?:process|corrupt|decode|read|retrieve|download|valid)|(?:process|decode|read|valid)[\s\S]*\bimage\b/i,
    'The model cannot read an image of the request.',
  ],
  [/\broles?\b/i, 'The order or the roles of the turns are not accepted by the model.'],
];

/**
 * Returns the message of Weir that replaces a provider's message. `param` is the client's name of
 * the parameter; undefined if the parameter is not known.
 */
export function ownWords(message: string, param: string | undefined): string {
  const sentence = SENTENCES.find(([pattern]) => pattern.test(message))?.[1];
  if (sentence !== undefined) return sentence;
  for (const [pattern, problem] of PROBLEMS) {
    const match = pattern.exec(message);
    if (!match) continue;
    if (problem === MISSING && param === undefined)
      return 'A required part of the request is missing.';
    const text = typeof problem === 'string' ? problem : problem(match);
    return `${param === undefined ? 'A part of the request' : `${param}:`} ${text}`;
  }
  if (param === undefined) return 'The model does not accept the request.';
  return `${param}: ${DEFAULT_PROBLEM}`;
}
