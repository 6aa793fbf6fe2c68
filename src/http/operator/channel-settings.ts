import { type Static, Type } from '@sinclair/typebox';
import type { ChannelRow, ChannelSettings } from '../../../db/channels/rows.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { FAMILY_PROTOCOLS } from '../../catalogue/families.ts';
import { baseUrlProblem } from '../../config/base-url.ts';
import { WINS_RULE } from '../../config/which-wins.ts';
import { closestName } from '../../errors/closest-name.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { OPERATED_PROTOCOLS, VENDOR_ADDRESSES } from '../../inference/probing/account.ts';
import { dialectOfAddress, isKnownHost } from '../../protocols/dialects.ts';
import type { ChannelProtocol } from '../../protocols/names.ts';

const closed = { additionalProperties: false };
const MAX_MODELS = 1_000;
const MAX_PRIORITY = 1_000_000;
const MAX_TIMEOUT_MS = 24 * 60 * 60 * 1000;
const MAX_URL_CHARS = 2_000;
/** Paths of the interface, which no channel can have as its id. */
const RESERVED_IDS = ['check'];
/** What a channel gets that names nothing else, as in `weir.yaml`. */
const DEFAULTS = {
  ...{ priority: 0, weight: 1, max_concurrency: 200, timeout_ms: 120_000, enabled: true },
};

const protocol = Type.Union(
  OPERATED_PROTOCOLS.map((name) => Type.Literal(name)),
  { errorMessage: `must be one of ${OPERATED_PROTOCOLS.join(', ')}; weir.yaml takes all others` },
);
const base_url = Type.String({
  ...{ minLength: 1, maxLength: MAX_URL_CHARS },
  errorMessage: `must be an address of at most ${MAX_URL_CHARS} characters`,
});
const api_key = Type.String({
  pattern: '^[\\x21-\\x7e]{1,4096}$',
  errorMessage: 'must have 1 to 4096 printable characters without spaces',
});
const integer = (minimum: number, maximum: number) =>
  Type.Optional(
    Type.Integer({
      ...{ minimum, maximum },
      errorMessage: `must be a whole number from ${minimum} to ${maximum}`,
    }),
  );

const changeable = {
  models: Type.Optional(
    Type.Record(
      Type.String(),
      Type.String({
        ...{ minLength: 1, maxLength: 200, pattern: '^[^\\u0000-\\u001f]*$' },
        errorMessage: 'must be the id of the model at the provider',
      }),
      {
        ...{ minProperties: 1, maxProperties: MAX_MODELS },
        errorMessage: `must be an object with 1 to ${MAX_MODELS} models: public id → id at the provider`,
      },
    ),
  ),
  priority: integer(-MAX_PRIORITY, MAX_PRIORITY),
  weight: Type.Optional(
    Type.Number({
      ...{ exclusiveMinimum: 0, maximum: 1_000_000 },
      errorMessage: 'must be a number above 0, at most 1000000',
    }),
  ),
  max_concurrency: integer(1, 1_000_000),
  timeout_ms: integer(100, MAX_TIMEOUT_MS),
  enabled: Type.Optional(Type.Boolean({ errorMessage: 'must be true or false' })),
};

/** `POST /v1/operator/channels/check`. `channel` stands for the account of an existing channel. */
export const CheckSchema = Type.Object(
  {
    protocol: Type.Optional(protocol),
    base_url: Type.Optional(base_url),
    api_key: Type.Optional(api_key),
    channel: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  },
  closed,
);

/** `POST /v1/operator/channels` */
export const CreateChannelSchema = Type.Object(
  {
    id: Type.Optional(
      Type.String({
        pattern: '^[a-z0-9][a-z0-9_-]{0,63}$',
        errorMessage: 'must have 1 to 64 characters: lower case, digits, - and _',
      }),
    ),
    ...{ protocol, base_url: Type.Optional(base_url), api_key },
    ...changeable,
  },
  closed,
);

/** `PATCH /v1/operator/channels/{id}` */
export const UpdateChannelSchema = Type.Object(
  { api_key: Type.Optional(api_key), ...changeable },
  closed,
);

/**
 * Returns the body with its address and key trimmed, because people paste them. Throws WeirError for a
 * key that only `weir.yaml` understands.
 */
export function tidied(body: Record<string, unknown>): Record<string, unknown> {
  const trimmed = { ...body };
  for (const name of ['base_url', 'api_key'] as const) {
    const value = trimmed[name];
    if (typeof value === 'string') trimmed[name] = value.trim();
  }
  if (typeof trimmed['api_key'] === 'string' && /^env:\w+$|^\$/.test(trimmed['api_key'])) {
    throw new WeirError('invalid_request', 'api_key names a variable of the environment.', {
      ...{ param: 'api_key', hint: 'Send the key itself. Only weir.yaml reads the environment.' },
    });
  }
  return trimmed;
}

/**
 * Returns the address of a channel, without slashes at its end. Without an address it is the vendor's.
 * Private addresses are allowed, as in `weir.yaml`: models that run at home have one. Throws WeirError.
 */
export function addressOf(
  chosen: string | undefined,
  of: (typeof OPERATED_PROTOCOLS)[number],
): string {
  if (chosen === undefined) return VENDOR_ADDRESSES[of];
  const problem = baseUrlProblem(chosen);
  if (problem === undefined) return chosen.replace(/\/+$/, '');
  throw new WeirError('invalid_request', `base_url ${problem}.`, { param: 'base_url' });
}

/** Throws WeirError if a model is not of the catalogue, or if the protocol cannot serve it. */
export function requireServable(
  models: Readonly<Record<string, string>> | undefined,
  of: ChannelProtocol,
  catalogue: Catalogue,
): void {
  for (const id of Object.keys(models ?? {})) {
    const param = `models.${id}`;
    const model = catalogue.find(id);
    if (!model || model.id !== id) {
      const meant =
        model?.id ??
        closestName(
          id,
          catalogue.all().map((each) => each.id),
        );
      throw new WeirError(
        'invalid_request',
        `${id.slice(0, 100)} is not a model of the catalogue.`,
        {
          ...{ param, ...(meant === undefined ? {} : { hint: `Did you mean ${meant}?` }) },
        },
      );
    }
    const protocols = FAMILY_PROTOCOLS[model.family];
    if (protocols.includes(of)) continue;
    const message = `A channel that speaks ${of} cannot serve ${id}.`;
    const hint = `It needs one of ${protocols.join(', ')}.`;
    throw new WeirError('invalid_request', message, { param, hint });
  }
}

/** Returns the settings of a new channel; what the request leaves out is as in `weir.yaml`. */
export function newSettings(
  chosen: Omit<Static<typeof UpdateChannelSchema>, 'models' | 'api_key'>,
  account: Pick<ChannelSettings, 'protocol' | 'base_url' | 'models'>,
): ChannelSettings {
  return { ...DEFAULTS, ...chosen, ...account };
}

/**
 * Returns an id for a new channel that is not in `taken`. Throws WeirError if the chosen one is taken.
 * Without a chosen one, it is the protocol, or the name of the vendor whose address it is.
 */
export function freeName(
  chosen: string | undefined,
  account: Pick<ChannelSettings, 'protocol' | 'base_url'>,
  taken: ReadonlySet<string>,
): string {
  if (chosen !== undefined && (taken.has(chosen) || RESERVED_IDS.includes(chosen))) {
    throw new WeirError('already_exists', 'This id is taken.', {
      ...{ param: 'id', hint: 'Choose another id, or leave it out.' },
    });
  }
  const name = chosen ?? nameOf(account);
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? name : `${name}-${number}`;
    if (!taken.has(id)) return id;
  }
}

function nameOf({ protocol: name, base_url: address }: { protocol: string; base_url: string }) {
  return name === 'openai' && isKnownHost(address) ? dialectOfAddress(address) : name;
}

/** Returns what an operator chose for a channel: what its entity tag and its audit lines have. */
export function channelSettingsOf(row: ChannelRow) {
  const { protocol: name, base_url: address, models, priority, weight } = row;
  const { max_concurrency, timeout_ms, enabled, api_key_changed_at } = row;
  return {
    ...{ protocol: name, base_url: address, models, priority, weight, max_concurrency, timeout_ms },
    ...{ enabled, api_key_changed_at: api_key_changed_at.toISOString() },
  };
}

/** Returns a channel as the answers to its changes have it: without its health, and without its key. */
export function channelRecord(row: ChannelRow): object {
  const { models, ...settings } = channelSettingsOf(row);
  return {
    ...{ object: 'channel', id: row.id, source: 'row', ...settings },
    wins: { rule: WINS_RULE, over: [] },
    created_at: row.created_at.toISOString(),
    models: Object.entries(models).map(([id, upstream_model]) => ({ id, upstream_model })),
  };
}
