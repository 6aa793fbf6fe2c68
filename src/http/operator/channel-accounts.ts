import type { ChannelRow } from '../../../db/channels/rows.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import {
  type AccountModel,
  type InspectedAccount,
  inspectAccount,
  OPERATED_PROTOCOLS,
  type OperatedProtocol,
} from '../../inference/probing/account.ts';
import { ProviderRefusal } from '../../upstreams/direct/provider-refusal.ts';
import { type Handler, json } from '../endpoint.ts';
import { pricesOf } from '../models/view.ts';
import { accountError } from './account-error.ts';
import { addressOf, CheckSchema, freeName, tidied } from './channel-settings.ts';
import { channelNotFound } from './channels.ts';
import type { OperatorDeps, OperatorParts } from './operator-parts.ts';
import { readOperatorBody } from './organization-change.ts';

const validateCheck = validator(CheckSchema);

/** An account that a request names, with its key. */
export interface NamedAccount {
  readonly protocol: OperatedProtocol;
  readonly base_url: string;
  readonly api_key: string;
}

/**
 * `POST /v1/operator/channels/check`. Tests a key, and returns which models of the catalogue the account
 * brings, at which prices. Nothing is stored. With `channel`, it tests the account of that channel, or
 * another key for it.
 */
export function checkChannel(deps: OperatorDeps): Handler {
  return async (context) => {
    await deps.authentication.requireOperator(context);
    const { value } = await readOperatorBody(context);
    const request = validateCheck(tidied(value));
    const parts = deps.operator();
    const account =
      request.channel === undefined ? newAccount(request) : knownAccount(parts, request);
    const found = await inspectFor(parts, account, request.base_url !== undefined);
    const taken = new Set(parts.installation.now.sources.keys());
    return json({
      ...{ object: 'channel_check', protocol: account.protocol, base_url: account.base_url },
      suggested_id: request.channel ?? freeName(undefined, account, taken),
      key_tested: found.is_key_tested,
      lists_models: found.lists_models,
      models: found.models.map(modelRecord),
      unknown_models: found.unknown_models,
    });
  };
}

type CheckRequest = ReturnType<typeof validateCheck>;

/** Returns the account of a channel that does not exist yet. Throws WeirError. */
function newAccount({ protocol, base_url, api_key }: CheckRequest): NamedAccount {
  if (protocol === undefined) throw isRequired('protocol');
  if (api_key === undefined) throw isRequired('api_key');
  return { protocol, base_url: addressOf(base_url, protocol), api_key };
}

/** Returns the account of a channel, with another key if the request has one. Throws WeirError. */
function knownAccount(
  { installation }: OperatorParts,
  { channel, protocol, base_url, api_key }: CheckRequest,
): NamedAccount {
  const param = protocol !== undefined ? 'protocol' : 'base_url';
  if (protocol !== undefined || base_url !== undefined) {
    const message = `${param} cannot be sent with channel, because the channel has its own.`;
    throw new WeirError('invalid_request', message, { param });
  }
  const config = installation.now.channels.find(({ id }) => id === channel);
  if (!config) throw channelNotFound('channel');
  return { ...accountOf(config, api_key ?? config.api_key) };
}

function isRequired(param: string): WeirError {
  return new WeirError('invalid_request', `${param} is required.`, { param });
}

/** Returns the account of a channel that exists. Throws WeirError for a protocol without a test. */
export function accountOf(
  channel: Pick<ChannelRow, 'protocol' | 'base_url'>,
  api_key: string,
): NamedAccount {
  return { protocol: protocolOf(channel), base_url: channel.base_url, api_key };
}

/** Returns the protocol of a channel. Throws WeirError if operators make no channels with it. */
export function protocolOf({ protocol }: Pick<ChannelRow, 'protocol'>): OperatedProtocol {
  const known = OPERATED_PROTOCOLS.find((name) => name === protocol);
  if (known) return known;
  throw new WeirError('invalid_request', `Weir cannot list the models of ${protocol}.`, {
    ...{ param: 'channel', hint: 'Send POST /v1/operator/channels/{id}/test instead.' },
  });
}

/**
 * Tests an account at its provider. `names_address` is true if the request chose the address. Throws
 * WeirError if the key is refused, or if no provider answers.
 */
export async function inspectFor(
  { installation }: OperatorParts,
  account: NamedAccount,
  names_address: boolean,
): Promise<InspectedAccount> {
  const { transport, offered } = installation.now;
  try {
    return await inspectAccount({ ...account, transport }, offered());
  } catch (error) {
    throw error instanceof ProviderRefusal ? accountError(error, names_address) : error;
  }
}

/**
 * Returns all models that a channel can serve for an account: public id → the provider's name. Throws
 * WeirError if there are none.
 */
export function modelsFor(
  protocol: OperatedProtocol,
  { models, lists_models }: InspectedAccount,
): Record<string, string> {
  const served = models.filter((each) => each.protocol === protocol);
  if (served.length > 0) {
    return Object.fromEntries(served.map((each) => [each.model.id, each.upstream_model]));
  }
  const message = lists_models
    ? `The provider lists no model of the catalogue that a channel with the protocol ${protocol} can serve.`
    : 'The provider has no list of its models.';
  throw new WeirError('invalid_request', message, {
    ...{ param: 'models', hint: 'Name the models: public id → id at the provider.' },
  });
}

function modelRecord({ model, protocol, ...names }: AccountModel): object {
  const { id, category, owned_by } = model;
  const { upstream_model, other_upstream_models } = names;
  return {
    ...{ id, upstream_model, other_upstream_models, protocol, category, owned_by },
    ...pricesOf(model),
  };
}
