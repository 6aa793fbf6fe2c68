import { RetryableUpstreamError } from '../contract.ts';
import type { GenerationProtocol, Progress } from './contract.ts';
import { failed, isModerated } from './exchange.ts';

/**
 * Statuses from 400 to 499 after which the same poll may succeed later. They concern the account, its
 * rate or the connection, not the job. Providers document 404 for an unknown job, and each protocol
 * reads it itself.
 */
const PASSING_STATUSES = [401, 402, 403, 404, 407, 408, 409, 421, 423, 425, 429, 499];
/** Words with which a provider refuses to show a job that has not ended. */
const NOT_ENDED =
  /in progress|not (?:yet )?(?:ready|finished|complete)|still (?:running|processing)/i;

/**
 * Returns the protocol with polls that end. Without this, a poll that the provider refuses for good would
 * be repeated until the deadline of the task. xAI refuses the poll of a video whose content it refused
 * (vercel/ai#17887).
 */
export function withEndingPolls(protocol: GenerationProtocol): GenerationProtocol {
  const { poll } = protocol;
  if (!poll) return protocol;
  return {
    ...protocol,
    poll: (call, job) => poll.call(protocol, call, job).catch(progressOfRefusal),
  };
}

/** Returns what the refusal of a poll means for the job. Throws the refusal if it means nothing. */
function progressOfRefusal(error: unknown): Progress {
  if (!(error instanceof RetryableUpstreamError)) throw error;
  const { status, failure, error_id, message } = error;
  const isFinal = status >= 400 && status < 500 && !PASSING_STATUSES.includes(status);
  const isAboutJob = failure === 'unclear' || failure === 'server';
  if (!isFinal || !isAboutJob || NOT_ENDED.test(message)) throw error;
  if (error_id === 'content_policy_violation' || isModerated(message)) {
    return failed(message, 'moderation');
  }
  if (error_id === 'invalid_request') return failed(message, 'input');
  // Nothing is proved about the input. So the refusal counts like a missing job: the task fails if the
  // provider repeats the refusal.
  return { type: 'missing', message };
}
