import {
  findSettings,
  knowsTimeZone,
  lockSettings,
  updateSettings,
} from '../../../db/accounts/settings.ts';
import { appendAudit } from '../../../db/audit/log.ts';
import type { TransactionSql } from '../../../db/client.ts';
import { nextRecall } from '../../../db/ledger/replicas.ts';
import { type MoneyHintPublisher, MoneyHints } from '../../actors/money/money-hints.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { changedMembers } from '../../json/changed-members.ts';
import { MAX_MANAGEMENT_BODY_BYTES, readJsonObject } from '../body.ts';
import { type Handler, json } from '../endpoint.ts';
import { requireMatch, withEtag } from '../etag.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';
import { changeOnce } from './change-once.ts';
import { admitManager, type ManagementDeps } from './keys.ts';
import {
  organizationView,
  SETTING_NAMES,
  type Settings,
  UpdateSettingsSchema,
} from './settings.ts';

const validateUpdate = validator(UpdateSettingsSchema);

/** `GET /v1/management/organization`. Returns the organization of the token, with its settings. */
export function getOrganization(deps: ManagementDeps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    return answerOf(await findSettings<Settings>(deps.sql, organization_id, SETTING_NAMES));
  };
}

interface OrganizationNews {
  /**
   * Notifies all replicas of a changed organization. Missing if this process has no other parts that know
   * organizations. Must not throw.
   */
  readonly organizationNews?: {
    announce(organization_id: string): void;
    readonly money: MoneyHintPublisher;
  };
  /** Applies a changed `own_keys` to this replica. Missing if this process has no own keys. */
  readonly ownKeys?: { apply(organization_id: string): Promise<void> };
}

/**
 * `PATCH /v1/management/organization`. With `keep_answers: false`, the kept answers of the
 * organization are deleted, and no repeat gets them from now on. All replicas read a changed `cache_scope`
 * with the keys.
 */
export function updateOrganization(
  deps: ManagementDeps & Pick<InferenceRouteDeps, 'repeats'> & OrganizationNews,
): Handler {
  return async (context) => {
    const { organization_id, actor } = await admitManager(deps, context);
    const { value, text: body } = await readJsonObject(
      context.request,
      context.bytes.of(organization_id),
      MAX_MANAGEMENT_BODY_BYTES,
    );
    const changes = validateUpdate(value);
    if (Object.keys(changes).length === 0) {
      throw new WeirError('invalid_request', 'At least one field is required.', { param: 'body' });
    }
    const action = 'organization.update';
    const request = { organization_id, actor_id: actor.id, route: action, body };
    const hints = new MoneyHints();
    const change = async (tx: TransactionSql) => {
      if (changes.time_zone !== undefined && !(await knowsTimeZone(tx, changes.time_zone))) {
        throw noTimeZone();
      }
      const before = await lockSettings<Settings>(tx, organization_id, SETTING_NAMES);
      if (!before) return answerOf(before);
      requireMatch(context.request, before.settings);
      await updateSettings(tx, organization_id, changes);
      const after = { ...before, settings: { ...before.settings, ...changes } };
      const members = changedMembers(before.settings, after.settings);
      if (members && changes.time_zone !== undefined) {
        // Unused money is of a day in the old time zone.
        hints.onRecall({ seq: await nextRecall(tx), organization_id, key_id: null });
      }
      if (members) {
        await appendAudit(tx, {
          ...{ organization_id, actor, action, subject_id: organization_id, ...members },
        });
      }
      return answerOf(after);
    };
    try {
      const response = await changeOnce(deps, context, request, change);
      deps.organizationNews?.money.publish(hints);
      if (changes.keep_answers === false) await deps.repeats().dropUnwanted();
      return response;
    } finally {
      // Each replica reads the settings with the keys. It also reads them again if Weir does not know
      // whether the change was committed.
      deps.keys.invalidateOrganization(organization_id);
      deps.organizationNews?.announce(organization_id);
      // This replica obeys a changed `own_keys` before the answer; the announcement reaches the others.
      await deps.ownKeys?.apply(organization_id).catch(() => undefined);
    }
  };
}

function noTimeZone(): WeirError {
  const message = 'time_zone must be a time zone of the IANA database.';
  return new WeirError('invalid_request', message, {
    ...{ param: 'time_zone', hint: 'For example Europe/Berlin, America/New_York or UTC.' },
  });
}

function answerOf(found: Awaited<ReturnType<typeof findSettings<Settings>>>): Response {
  if (!found) throw new WeirError('not_found', 'There is no such organization.');
  return withEtag(json(organizationView(found)), found.settings);
}
