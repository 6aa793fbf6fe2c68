import type { Sql } from 'postgres';
import { findContinuedTask } from '../../../db/tasks/rows.ts';
import type { GenerationInput } from '../../catalogue/inputs.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { ProducedRecord } from './deps.ts';

/** Public id of a clip, which is one output of a task: `<task id>-<number of the output>`. */
const CLIP_ID = /^(.+)-(\d{1,3})$/;

/** An input in which ids of earlier results are replaced by the upstream's own ids. */
export interface ResolvedInput {
  readonly input: GenerationInput;
  /**
   * Channel of the account that made the earlier result. Only that account can continue the result.
   * null means that any channel may serve the call.
   */
  readonly channel_id: string | null;
}

/**
 * If a call continues an earlier result, replaces the public id of that result by the upstream's
 * id. The result must be of a finished task of the same organization (P6). Throws WeirError
 * `invalid_request` if there is no such result.
 */
export async function resolveContinuation(
  sql: Sql,
  input: GenerationInput,
  organization_id: string,
): Promise<ResolvedInput> {
  if (input.scene === 'video' && input.continued_job !== undefined) {
    const { name, channel_id } = await findUpstreamName(
      sql,
      input.continued_job,
      1,
      organization_id,
      'task_id',
    );
    return { input: { ...input, continued_job: name }, channel_id };
  }
  if (input.scene === 'music' && input.continue_clip_id !== undefined) {
    const [, id = '', number = '1'] = CLIP_ID.exec(input.continue_clip_id) ?? [];
    const param = 'continue_clip_id';
    const { name, channel_id } = await findUpstreamName(
      sql,
      id,
      Number(number),
      organization_id,
      param,
    );
    return { input: { ...input, continue_clip_id: name }, channel_id };
  }
  return { input, channel_id: null };
}

async function findUpstreamName(
  sql: Sql,
  id: string,
  number: number,
  organization_id: string,
  param: string,
): Promise<{ name: string; channel_id: string | null }> {
  const row = await findContinuedTask(sql, id, organization_id);
  const produced = row?.produced as unknown as ProducedRecord | null;
  const job = row?.job as unknown as { id: string } | null;
  const output = produced?.outputs[number - 1];
  const name = output && (output.continuation_id ?? job?.id);
  if (row && name !== undefined) return { name, channel_id: row.channel_id };
  throw new WeirError('invalid_request', `${param} does not name a finished generation.`, {
    param,
  });
}
