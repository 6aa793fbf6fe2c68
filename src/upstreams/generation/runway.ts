import { RetryableUpstreamError } from '../contract.ts';
import {
  type GenerationProtocol,
  type JobCall,
  LostSubmissionError,
  type Progress,
} from './contract.ts';
import {
  asList,
  asText,
  failed,
  type JsonObject,
  progressIn,
  queryJob,
  submitJob,
} from './exchange.ts';
import { runwayRequest } from './runway-request.ts';

const VERSION = '2024-11-06';
const POLL_MS = 5_000;
const headersOf = ({ target }: JobCall) => ({
  authorization: `Bearer ${target.api_key}`,
  'x-runway-version': VERSION,
});

/** Runway's task API (Runway docs: API reference). */
export const runwayProtocol: GenerationProtocol = {
  name: 'runway',
  idempotent: false,

  async submit(call) {
    const { input } = call;
    if (input.scene !== 'video')
      throw new RetryableUpstreamError('server', 'this protocol makes only videos');
    const { path, body } = runwayRequest(call.physical_model, input);
    const answer = await submitJob(call, { path, headers: headersOf(call), body });
    if ('type' in answer) return answer;
    const id = asText(answer.body['id']);
    if (!id) throw new LostSubmissionError('the response has no job id');
    return { type: 'accepted', job: { id } };
  },

  async poll(call, { id }) {
    const path = `/v1/tasks/${encodeURIComponent(id)}`;
    const { status, body } = await queryJob(call, { path, headers: headersOf(call) }, [200, 404]);
    if (status === 404) return { type: 'missing', message: 'no such task' };
    return progressOf(body);
  },

  async cancel(call, { id }) {
    const path = `/v1/tasks/${encodeURIComponent(id)}`;
    await queryJob(call, { method: 'DELETE', path, headers: headersOf(call) }, [200, 204, 404]);
  },
};

function progressOf(task: JsonObject): Progress {
  switch (task['status']) {
    case 'PENDING':
    // THROTTLED means that the task waits until the account has capacity.
    case 'THROTTLED':
      return { type: 'running', status: 'queued', retry_after_ms: POLL_MS };
    case 'RUNNING': {
      const progress = progressIn(task['progress'], 1);
      return { type: 'running', status: 'processing', retry_after_ms: POLL_MS, ...progress };
    }
    case 'SUCCEEDED': {
      const urls = asList(task['output']).flatMap((each) => asText(each) ?? []);
      const outputs = urls.map((url) => ({ kind: 'video' as const, url }));
      if (outputs.length === 0) return failed('succeeded without an output', 'upstream');
      return { type: 'produced', outputs, usage: {} };
    }
    case 'FAILED': {
      const code = asText(task['failureCode']) ?? '';
      const reason = code.includes('SAFETY')
        ? 'moderation'
        : code.startsWith('ASSET')
          ? 'input'
          : 'upstream';
      return failed(`${code} ${asText(task['failure']) ?? ''}`, reason);
    }
    case 'CANCELLED':
      return failed('cancelled', 'upstream');
    default:
      return { type: 'unknown', message: `status ${String(task['status'])}` };
  }
}
