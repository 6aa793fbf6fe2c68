import type { Simulator } from '../exchange.ts';
import { type Account, controlledFailure } from '../shared/accounts.ts';
import { newCall } from '../shared/books.ts';
import { DirectiveError } from '../shared/directives.ts';
import { newId } from '../shared/random.ts';
import { connectionReset } from '../shared/resets.ts';
import { disconnectsWithin } from '../shared/waiting.ts';
import { type Job, type JobOrder, Jobs } from './jobs.ts';
import { type Script, scriptOf } from './script.ts';

/** The jobs of all providers. */
export const jobs = new Jobs();

/** A provider's error responses. */
export interface Wording {
  wrongKey(): Response;
  /** `input` means that the request is wrong. `moderation` means that the content is refused. */
  refusal(status: number, why: 'input' | 'moderation' | 'throttle' | 'quota' | 'server'): Response;
}

/** The accepted job, or the response that the client gets instead. */
export type JobOrResponse =
  | { readonly job: Job; readonly script: Script }
  | { readonly answer: Response };

const INPUT_STATUS = 400;
const THROTTLED = 429;

/** Returns the account of a key, or the response for a wrong key or an unreachable account. */
export function accountOrRefusal(
  simulator: Simulator,
  key: string | null | undefined,
  wording: Wording,
): Account | Response {
  const account = key ? simulator.accounts.findByKey(key) : undefined;
  if (!account || account.control.revoked) return wording.wrongKey();
  if (account.control.down) return connectionReset();
  return account;
}

/**
 * Handles a submission as the directives of its prompt say: refuses the job, accepts it, or accepts
 * it and spoils the response (reset or broken JSON).
 */
export async function submitJob(
  simulator: Simulator,
  account: Account,
  order: Omit<JobOrder, 'account'>,
  wording: Wording,
  signal: AbortSignal,
): Promise<JobOrResponse> {
  const call = newCall(newId('req_'), account.id, order.protocol);
  call.model = order.model;
  call.client_reference = order.key ?? null;
  account.calls += 1;
  simulator.books.open(call);
  const refuse = (answer: Response): JobOrResponse => {
    call.status = answer.status;
    call.outcome = 'refused';
    const { retry_after } = script ?? {};
    if (retry_after !== undefined) answer.headers.set('retry-after', String(retry_after));
    return { answer };
  };
  let script: Script | undefined;
  try {
    script = scriptOf(order.prompt, account.id);
  } catch (error) {
    if (!(error instanceof DirectiveError)) throw error;
    return refuse(wording.refusal(INPUT_STATUS, 'input'));
  }
  if (await disconnectsWithin(signal, script.latency_ms)) return refuse(connectionReset());
  const status = controlledFailure(account, account.calls) ?? script.status;
  if (status !== undefined) return refuse(wording.refusal(status, whyOf(status, script)));
  if (script.fail !== undefined && script.fails_at === 'submit') {
    const why = script.fail === 'moderation' ? 'moderation' : 'input';
    return refuse(wording.refusal(INPUT_STATUS, why));
  }
  const { job } = jobs.submit({ ...order, account: account.id }, script);
  call.job_id = job.id;
  call.outcome = script.lose ? 'lost' : 'whole';
  if (script.lose) return { answer: connectionReset() };
  if (script.malformed) return { answer: new Response('{"id": "trunc', { status: 200 }) };
  return { job, script };
}

function whyOf(status: number, script: Script): 'throttle' | 'quota' | 'server' | 'input' {
  if (script.quota || status === 402) return 'quota';
  if (status === THROTTLED) return 'throttle';
  return status >= 500 ? 'server' : 'input';
}

/** Counts a poll. Returns the response that refuses the poll; undefined if the poll is allowed. */
export function refusalOfPoll(job: Job, wording: Wording): Response | undefined {
  job.polls += 1;
  const { poll_status, poll_times } = job.script;
  if (poll_status === undefined || job.polls > poll_times) return undefined;
  return wording.refusal(poll_status, whyOf(poll_status, job.script));
}

/** The body of a request as an object; `{}` if it is not one. */
export async function bodyOf(request: Request): Promise<Record<string, unknown>> {
  try {
    const body: unknown = await request.json();
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

export const textIn = (body: Record<string, unknown>, key: string): string => {
  const value = body[key];
  return typeof value === 'string' ? value : '';
};
