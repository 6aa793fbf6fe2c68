import { directivesIn } from '../shared/directives.ts';

/** How a job runs and ends, as the directives of its prompt say. */
export interface Script {
  latency_ms: number;
  status: number | undefined;
  retry_after: number | undefined;
  quota: boolean;
  malformed: boolean;
  /** True if the job is accepted and written into the books, but the connection breaks before the response. */
  lose: boolean;
  task_ms: number;
  fail: 'moderation' | 'input' | 'upstream' | undefined;
  fails_at: 'submit' | 'processing';
  unknown: boolean;
  gone: boolean;
  no_url: boolean;
  poll_status: number | undefined;
  poll_times: number;
  url_ms: number;
}

const DEFAULT_TASK_MS = 1_500;
const DEFAULT_URL_MS = 10 * 60 * 1_000;
const FAILURES = ['moderation', 'input', 'upstream'] as const;

/** Reads a job's directives. @throws {DirectiveError} for an unknown one. */
export function scriptOf(prompt: string, account: string): Script {
  const directives = directivesIn(prompt, account);
  const words = wordsIn(prompt, account);
  const number = (key: string, fallback: number) => Number(words.get(key) ?? fallback);
  return {
    latency_ms: directives.latency_ms ?? 0,
    status: directives.status,
    retry_after: directives.retry_after,
    quota: directives.quota === 1,
    malformed: directives.malformed === 1,
    lose: directives.lose === 1,
    task_ms: number('task_ms', DEFAULT_TASK_MS),
    fail: FAILURES.find((each) => each === words.get('fail')),
    fails_at: words.get('at') === 'submit' ? 'submit' : 'processing',
    unknown: words.has('unknown'),
    gone: words.has('gone'),
    no_url: words.has('no_url'),
    poll_status: words.has('poll_status') ? number('poll_status', 503) : undefined,
    poll_times: number('poll_times', 1),
    url_ms: number('url_ms', DEFAULT_URL_MS),
  };
}

/** Names and values of all directives for an account. */
function wordsIn(prompt: string, account: string): Map<string, string> {
  const words = new Map<string, string>();
  for (const [, body = ''] of prompt.matchAll(/\[\[sim ([^\]]*)\]\]/g)) {
    const pairs = new Map<string, string>();
    for (const pair of body.split(/\s+/).filter(Boolean)) {
      const [key = '', value = '1'] = pair.split('=');
      pairs.set(key, value);
    }
    if ((pairs.get('channel') ?? account) !== account) continue;
    for (const [key, value] of pairs) words.set(key, value);
  }
  return words;
}
