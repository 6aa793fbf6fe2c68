import {
  type Catalogue,
  type CatalogueModel,
  type ChatModel,
  type DirectModel,
  type GenerationModel,
  isAllowed,
} from '../../catalogue/catalogue.ts';
import type { GenerationScene } from '../../catalogue/inputs.ts';
import { suggestModels } from '../../catalogue/suggest.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { ClientProtocol } from '../../protocols/names.ts';
import type { Caller } from '../call.ts';

const CHAT_ROUTES: Record<ClientProtocol, string> = {
  openai: '/v1/chat/completions',
  anthropic: '/v1/messages',
  responses: '/v1/responses',
  gemini: '/v1beta/models',
};
const DIRECT_ROUTES: Record<DirectModel['operation'], string> = {
  embedding: '/v1/embeddings',
  stt: '/v1/audio/transcriptions or /v1/audio/translations',
  tts: '/v1/audio/speech',
  rerank: '/v1/rerank',
  translation: '/v1/translations',
};
const GENERATION_ROUTES: Record<GenerationScene, string> = {
  image: '/v1/images/generations',
  video: '/v1/videos/generations',
  music: '/v1/music/generations',
  '3d': '/v1/3d/generations',
  audio: '/v1/audio/generations',
};

type IsCallable = (model: CatalogueModel, key: Caller) => boolean;

/** Returns the model that a chat call names. Throws like `resolve`. */
export function resolveModel(
  catalogue: Catalogue,
  name: string,
  key: Caller,
  protocol: ClientProtocol,
  isCallable: IsCallable,
): ChatModel {
  return resolve(catalogue, name, key, CHAT_ROUTES[protocol], isChat, isCallable);
}

const isChat = (model: CatalogueModel): model is ChatModel => model.kind === 'chat';

/** The path that the client requested, and what it does. */
interface DirectRouteName {
  readonly path: string;
  readonly operation: DirectModel['operation'];
}

/**
 * Returns the model that a direct call names. If the call names none, returns the first model of
 * the operation. Throws like `resolve`.
 */
export function resolveDirectModel(
  catalogue: Catalogue,
  name: string | undefined,
  key: Caller,
  { path, operation }: DirectRouteName,
  isCallable: IsCallable,
): DirectModel {
  const isServedHere = (model: CatalogueModel): model is DirectModel =>
    model.kind === 'direct' && model.operation === operation;
  const requested = name ?? catalogue.all().find(isServedHere)?.id ?? '';
  return resolve(catalogue, requested, key, path, isServedHere, isCallable);
}

/**
 * Returns the model that a call to create a generation names. If the call names none, returns the
 * scene's default model. If that model does not suit the call, returns the first model that does and
 * that the key can call. Throws like `resolve`.
 */
export function resolveGenerationModel(
  catalogue: Catalogue,
  name: string | undefined,
  key: Caller,
  { path, scene }: { readonly path: string; readonly scene: GenerationScene },
  isCallable: IsCallable,
  suits: (model: GenerationModel) => boolean,
): GenerationModel {
  const isServedHere = (model: CatalogueModel): model is GenerationModel =>
    model.kind === 'generation' && model.scene === scene;
  const defaultModel = () => {
    const usual = catalogue.find(catalogue.defaults[scene] ?? '');
    if (usual && isServedHere(usual) && suits(usual)) return usual.id;
    const other = catalogue
      .all()
      .find((each) => isServedHere(each) && suits(each) && isCallable(each, key));
    return (other ?? usual)?.id ?? '';
  };
  const requested = name ?? defaultModel();
  return resolve(catalogue, requested, key, path, isServedHere, isCallable);
}

/**
 * Returns the model with this name. If there is none, throws WeirError `model_not_found`, which
 * suggests models that this key can call now (P13). Throws `model_not_allowed` if the key may not
 * use the model. Throws 400 if another route serves the model.
 */
function resolve<Served extends CatalogueModel>(
  catalogue: Catalogue,
  name: string,
  key: Caller,
  route: string,
  isServedHere: (model: CatalogueModel) => model is Served,
  isCallable: IsCallable,
): Served {
  const model = catalogue.find(name);
  if (!model) {
    throw notFoundError(name, catalogue, (other) => isServedHere(other) && isCallable(other, key));
  }
  if (!isAllowed(key.models, model)) {
    throw new WeirError('model_not_allowed', `This API key may not use ${quoted(name)}.`, {
      param: 'model',
      hint: 'Add the model to the key’s models with the management API, or use another key.',
    });
  }
  if (!isServedHere(model)) {
    throw new WeirError('invalid_request', `${quoted(name)} is not available on ${route}.`, {
      param: 'model',
      hint: `Use ${routesOf(model)}.`,
    });
  }
  return model;
}

function notFoundError(
  name: string,
  catalogue: Catalogue,
  isUsable: (model: CatalogueModel) => boolean,
): WeirError {
  return new WeirError('model_not_found', `The model ${quoted(name)} does not exist.`, {
    param: 'model',
    ...suggestModels(name, catalogue.all().filter(isUsable)),
    hint: 'GET /v1/models lists the models.',
  });
}

/** Returns the routes of a model, as a part of a sentence. */
function routesOf(model: CatalogueModel): string {
  // Every chat route takes every chat model.
  if (model.kind === 'chat') return Object.values(CHAT_ROUTES).join(' or ');
  return model.kind === 'direct' ? DIRECT_ROUTES[model.operation] : GENERATION_ROUTES[model.scene];
}

const MAX_QUOTED_CHARS = 100;

function quoted(name: string): string {
  return `'${name.slice(0, MAX_QUOTED_CHARS)}'`;
}
