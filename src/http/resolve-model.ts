import { type Catalogue, type CatalogueModel, isAllowed } from '../catalogue/catalogue.ts';
import { suggestModels } from '../catalogue/suggest.ts';
import { WeirError } from '../errors/weir-error.ts';
import type { Caller } from '../inference/call.ts';
import type { ProtocolName } from '../upstreams/contract.ts';

const ROUTES: Record<ProtocolName, string> = {
  openai: '/v1/chat/completions',
  anthropic: '/v1/messages',
};

/**
 * The model that a call names. Throws WeirError: `model_not_found` with models that this key can
 * call now (P13), `model_not_allowed`, or 400 where another route serves the model.
 */
export function resolveModel(
  catalogue: Catalogue,
  name: string,
  key: Caller,
  protocol: ProtocolName,
  isCallable: (model: CatalogueModel, key: Caller) => boolean,
): CatalogueModel {
  const model = catalogue.find(name);
  if (!model) {
    const callable = catalogue
      .all()
      .filter((each) => each.protocol === protocol && isCallable(each, key));
    throw new WeirError('model_not_found', `The model ${quoted(name)} does not exist.`, {
      param: 'model',
      ...suggestModels(name, callable),
      hint: 'GET /v1/models lists the models.',
    });
  }
  if (!isAllowed(key.models, model)) {
    throw new WeirError('model_not_allowed', `This API key may not use ${quoted(name)}.`, {
      param: 'model',
      hint: 'Add the model to the key’s models with the management API, or use another key.',
    });
  }
  if (model.protocol !== protocol) {
    throw new WeirError(
      'invalid_request',
      `${quoted(name)} is not available on ${ROUTES[protocol]}.`,
      { param: 'model', hint: `Use ${ROUTES[model.protocol]}.` },
    );
  }
  return model;
}

const MAX_QUOTED_CHARS = 100;

function quoted(name: string): string {
  return `'${name.slice(0, MAX_QUOTED_CHARS)}'`;
}
