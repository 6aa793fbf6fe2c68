import { stripVTControlCharacters } from 'node:util';
import { parseXml, XmlElement } from '@rgrove/parse-xml';

/** One test or command that failed, for the end of a run. */
export interface Failure {
  /** For example `test/http/chat.test.ts: a group > a test`. */
  what: string;
  /** The file of a failed test; undefined if something else failed. */
  file?: string;
  /** Its error, or what it printed last; may have many lines. */
  why: string;
}

/** What the end of a run repeats of one failure: lines, and characters of each. */
const SHOWN_LINES = 40;
const SHOWN_CHARS = 400;

/** The failures as the lines that end a run: each with its reason below it. */
export function failureLines(failures: readonly Failure[]): string[] {
  return failures.flatMap(({ what, why }) => {
    const lines = why.trim().split('\n').slice(0, SHOWN_LINES);
    return [`  ${what}`, ...lines.map((line) => `    ${shortened(line)}`.trimEnd())];
  });
}

function shortened(line: string): string {
  return line.length <= SHOWN_CHARS ? line : `${line.slice(0, SHOWN_CHARS)}…`;
}

/** The last lines that a failed command printed. */
export function lastLines(output: string): string {
  return output.trimEnd().split('\n').slice(-SHOWN_LINES).join('\n');
}

/** The failed tests of Bun's JUnit report. */
export function readFailures(report: string): Failure[] {
  const { root } = parseXml(report);
  return root === null ? [] : failuresIn(root);
}

function failuresIn(element: XmlElement): Failure[] {
  const children = element.children.filter((child) => child instanceof XmlElement);
  if (element.name !== 'testcase') return children.flatMap(failuresIn);
  const { file, classname, name } = element.attributes;
  return children
    .filter((child) => child.name === 'failure')
    .map(({ attributes: { type, message } }) => ({
      what: `${file}: ${[classname, name].filter(Boolean).join(' > ')}`,
      ...(file ? { file } : {}),
      why: `${type}: ${message}`,
    }));
}

/** A line that names the test file whose results follow. */
const FILE_LINE = /^(\S+\.test\.ts):$/;
/** The line above an error that no test threw, for example while a test file was loaded. */
const OUTSIDE_LINE = /^# Unhandled error between tests$/;
const RULE = /^-{10,}$/;

/** The errors outside of tests, from what Bun printed. Bun's JUnit report does not have them. */
export function readFailuresOutside(output: string): Failure[] {
  const lines = stripVTControlCharacters(output).split('\n');
  const found: Failure[] = [];
  let file = 'unknown file';
  for (const [at, line] of lines.entries()) {
    file = FILE_LINE.exec(line)?.[1] ?? file;
    if (!OUTSIDE_LINE.test(line)) continue;
    const rest = lines.slice(at + 2);
    const end = rest.findIndex((each) => RULE.test(each));
    found.push({
      what: `${file}: outside of a test`,
      why: rest.slice(0, Math.max(0, end)).join('\n'),
    });
  }
  return found;
}
