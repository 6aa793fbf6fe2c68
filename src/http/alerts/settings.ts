import { lockEndpoints } from '../../../db/alerts/endpoints.ts';
import type { AlertSettings } from '../../../db/alerts/settings.ts';
import { readAlertSettings, writeAlertSettings } from '../../../db/alerts/settings.ts';
import { appendAudit } from '../../../db/audit/log.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { changedMembers } from '../../json/changed-members.ts';
import { type Handler, json } from '../endpoint.ts';
import { requireMatch, withEtag } from '../etag.ts';
import { changeOnce } from '../management/change-once.ts';
import { type Admit, type AlertRouteDeps, readAlertBody, requireAlerts } from './owner.ts';
import { alertSettingsView } from './records.ts';
import { UpdateAlertSettingsSchema } from './schema.ts';

const validate = validator(UpdateAlertSettingsSchema);
const NANO_PER_USD = 1_000_000_000;

/** `GET /v1/management/alert-settings` */
export function getAlertSettings(deps: AlertRouteDeps, admit: Admit): Handler {
  return async (context) => {
    const { owner_id } = await admit(context);
    return answer(await readAlertSettings(requireAlerts(deps).sql, owner_id));
  };
}

/** `PATCH /v1/management/alert-settings` */
export function updateAlertSettings(deps: AlertRouteDeps, admit: Admit): Handler {
  return async (context) => {
    const owner = await admit(context);
    const { owner_id: organization_id, actor } = owner;
    const { value, text: body } = await readAlertBody(context, owner);
    const { low_balance_usd, ...rest } = validate(value);
    if (Object.keys(value).length === 0) {
      throw new WeirError('invalid_request', 'At least one field is required.', { param: 'body' });
    }
    const action = 'alert_settings.update';
    const request = { organization_id, actor_id: actor.id, route: action, body };
    return changeOnce(deps, context, request, async (tx) => {
      await lockEndpoints(tx, organization_id);
      const before = await readAlertSettings(tx, organization_id);
      requireMatch(context.request, alertSettingsView(before));
      const after: AlertSettings = { ...before, ...rest, ...lowBalance(low_balance_usd) };
      await writeAlertSettings(tx, organization_id, after);
      const members = changedMembers(alertSettingsView(before), alertSettingsView(after));
      if (members) {
        const subject_id = organization_id;
        await appendAudit(tx, { organization_id, actor, action, subject_id, ...members });
      }
      return answer(after);
    });
  };
}

function lowBalance(low_balance_usd: number | null | undefined): Partial<AlertSettings> {
  if (low_balance_usd === undefined) return {};
  if (low_balance_usd === null) return { low_balance_nano_usd: null };
  return { low_balance_nano_usd: Math.round(low_balance_usd * NANO_PER_USD) };
}

function answer(settings: AlertSettings): Response {
  const shown = alertSettingsView(settings);
  return withEtag(json({ object: 'alert_settings', ...shown }), shown);
}
