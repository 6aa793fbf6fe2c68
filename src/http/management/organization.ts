import { Type } from '@sinclair/typebox';
import {
  findSettings,
  type OrganizationSettings,
  updateSettings,
} from '../../../db/organizations.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { MAX_MANAGEMENT_BODY_BYTES, readJsonObject } from '../body.ts';
import { type Handler, json } from '../endpoint.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';
import { admitManager, type ManagementDeps } from './keys.ts';

/** `PATCH /v1/management/organization`. All settings of an organization are members of this body. */
const UpdateOrganizationSchema = Type.Object(
  {
    keep_answers: Type.Optional(Type.Boolean({ errorMessage: 'must be true or false' })),
  },
  { additionalProperties: false },
);

const validateUpdate = validator(UpdateOrganizationSchema);

/** `GET /v1/management/organization`. Returns the settings of the token's organization. */
export function getOrganization(deps: ManagementDeps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    return json(await readRecord(deps, organization_id));
  };
}

/**
 * `PATCH /v1/management/organization`. With `keep_answers: false`, the kept answers of the
 * organization are deleted, and no repeat gets them from now on.
 */
export function updateOrganization(
  deps: ManagementDeps & Pick<InferenceRouteDeps, 'repeats'>,
): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    const { value } = await readJsonObject(
      context.request,
      context.bytes.of(organization_id),
      MAX_MANAGEMENT_BODY_BYTES,
    );
    const { keep_answers } = validateUpdate(value);
    if (keep_answers === undefined) {
      throw new WeirError('invalid_request', 'At least one field is required.', { param: 'body' });
    }
    await updateSettings(deps.orm, organization_id, { keep_answers });
    if (!keep_answers) await deps.repeats().dropUnwanted();
    return json(await readRecord(deps, organization_id));
  };
}

async function readRecord({ orm }: ManagementDeps, organization_id: string): Promise<object> {
  const settings: OrganizationSettings | undefined = await findSettings(orm, organization_id);
  if (!settings) throw new WeirError('not_found', 'There is no such organization.');
  const { id, name, keep_answers } = settings;
  return { object: 'organization', id, name, keep_answers };
}
