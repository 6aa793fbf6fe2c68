/** Tests of own keys at their providers, and what the organization is told. */
import type { OwnKeyRow } from '../../../db/upstream-keys/rows.ts';
import { systemClock } from '../../actors/clock.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { ownChannelOf } from '../../config/own-key-rows.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { OPERATED_PROTOCOLS } from '../../inference/probing/account.ts';
import { type TestedOwnKey, testOwnKey } from '../../inference/probing/own-key-test.ts';
import type { ChannelProtocol } from '../../protocols/names.ts';
import { ProviderRefusal } from '../../upstreams/direct/provider-refusal.ts';
import { accountError } from '../operator/account-error.ts';
import { modelsFor } from '../operator/channel-accounts.ts';
import { modelsRequired } from './refusals.ts';

type Account = Pick<
  OwnKeyRow,
  'id' | 'organization_id' | 'protocol' | 'base_url' | 'dialect' | 'api_version' | 'models'
>;
type Models = Readonly<Record<string, string>>;

const listedProtocol = (protocol: ChannelProtocol) =>
  OPERATED_PROTOCOLS.find((name) => name === protocol);

/**
 * The most tests at a time: of one organization, and of all on this replica. A list of models may have
 * megabytes, and a slow provider may take a minute.
 */
const MAX_TESTS_OF_ONE = 2;
const MAX_TESTS = 16;
const RETRY_AFTER_S = 5;

/** The organizations whose keys are being tested, one entry for each test. */
const testing: string[] = [];

/** Tests a key. Throws WeirError, which tells its organization why the provider refused it. */
export async function requireAccepted(
  account: Account,
  api_key: string,
  catalogue: Catalogue,
): Promise<TestedOwnKey> {
  const channel = ownChannelOf(account, api_key, 0);
  if (!channel) throw new Error(`unknown protocol ${account.protocol}`);
  const { organization_id } = account;
  const own = testing.filter((each) => each === organization_id).length;
  if (own >= MAX_TESTS_OF_ONE || testing.length >= MAX_TESTS) throw tooManyTests();
  testing.push(organization_id);
  try {
    return await testOwnKey(channel, catalogue, systemClock);
  } catch (error) {
    throw error instanceof ProviderRefusal ? accountError(error, true) : error;
  } finally {
    testing.splice(testing.indexOf(organization_id), 1);
  }
}

function tooManyTests(): WeirError {
  const message = 'Too many upstream keys are being tested.';
  return new WeirError('rate_limit_exceeded', message, { retry_after: RETRY_AFTER_S });
}

/** Returns the result of a test as the organization sees it. */
export async function verdictOf(account: Account, api_key: string, catalogue: Catalogue) {
  try {
    const { key_tested, listed } = await requireAccepted(account, api_key, catalogue);
    const { unknown_models = [], models = [] } = listed ?? {};
    return {
      ...{ ok: true as const, key_tested, unknown_models },
      models: models.map(({ model, upstream_model }) => ({ id: model.id, upstream_model })),
    };
  } catch (error) {
    if (!(error instanceof WeirError) || error.id === 'rate_limit_exceeded') throw error;
    const { message, details } = error;
    const { fault, hint, provider_message, provider_status } = details;
    return { ok: false as const, fault, message, hint, provider_message, provider_status };
  }
}

/**
 * Returns the models with which a new key is tested. Throws WeirError if the request names none, and
 * Weir cannot list those of the protocol.
 */
export function modelsNamed(named: Models | undefined, protocol: ChannelProtocol): Models {
  if (named) return named;
  if (listedProtocol(protocol) === undefined) throw modelsRequired(protocol);
  return {};
}

/** Returns the models that a new key serves if the request names none: all that the account lists. */
export function modelsListed(protocol: ChannelProtocol, { listed }: TestedOwnKey): Models {
  const name = listedProtocol(protocol);
  if (name === undefined || !listed) throw modelsRequired(protocol);
  return modelsFor(name, listed);
}
