import { Type } from '@sinclair/typebox';
import { validator } from '../../errors/validate.ts';
import type { Act } from '../../inference/inspection/act-rules.ts';
import { inspectedActor } from '../../inference/inspection/inspected.ts';
import { OPERATOR } from '../../inference/inspection/viewer.ts';
import { MAX_MANAGEMENT_BODY_BYTES, readJsonObject } from '../body.ts';
import { type Handler, json } from '../endpoint.ts';
import { readQuery } from '../management/list-query.ts';
import { OPERATORS } from '../operators.ts';
import { findShownActor, validateReplica } from './actors.ts';
import type { InspectScope } from './scope.ts';

/** The body of an act. */
export const ActSchema = Type.Object(
  {
    /** The state in which the caller saw the actor. */
    state: Type.String({ minLength: 1, maxLength: 200 }),
    reason: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  },
  { additionalProperties: false },
);
const validateAct = validator(ActSchema);

/**
 * `POST /v1/operator/inspect/actors/{kind}/{id}/{act}`: does something to one actor, if the actor is still in the
 * state that the body names. Returns the actor after it.
 */
export function postAct(scope: InspectScope, act: Act): Handler {
  return async (context) => {
    const { actor } = await scope.deps.authentication.requireOperator(context);
    const { replica } = readQuery(context.request, validateReplica);
    const body = await readJsonObject(
      context.request,
      context.bytes.of(OPERATORS),
      MAX_MANAGEMENT_BODY_BYTES,
    );
    const { state, reason } = validateAct(body.value);
    const { found } = await findShownActor(scope, OPERATOR, context, replica);
    const { acts } = scope.deps.inspection();
    await acts.perform(found, { act, actor, state, reason });
    // The same actor, and not that of a replica that comes first.
    const same = found.memory?.replica ?? replica;
    const after = await findShownActor(scope, OPERATOR, context, same);
    return json(await inspectedActor(after.sql, OPERATOR, after.found));
  };
}
