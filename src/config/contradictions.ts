import { FAMILY_PROTOCOLS } from '../catalogue/families.ts';
import type { ModelDeclaration } from '../catalogue/schema.ts';
import { closestName } from '../errors/closest-name.ts';
import { findModelContradictions, joinNames } from './model-contradictions.ts';
import type { WeirYaml } from './schema.ts';
import { pointerStep } from './yaml-source.ts';

type Add = (pointer: string, message: string) => void;
type Declared = ReturnType<typeof findModelContradictions>;

/**
 * Reports with `add` the mistakes that a schema cannot find, e.g. repeated names, models that are
 * not declared, models that their channel's protocol cannot serve, and default models that no
 * channel serves. `known` are the models of the catalogue.
 */
export function findContradictions(
  config: WeirYaml,
  known: readonly ModelDeclaration[],
  add: Add,
): void {
  findRepeated(config.channels, 'channels', add);
  findRepeated(config.models, 'models', add);
  const declared = findModelContradictions(config.models, known, add);
  findUnservableModels(config, declared, add);
  findUselessSettings(config, add);
  findWrongDefaults(config, declared, add);
}

function findRepeated(entries: readonly { id: string }[], list: string, add: Add): void {
  const seen = new Set<string>();
  for (const [index, { id }] of entries.entries()) {
    if (seen.has(id)) add(`/${list}/${index}/id`, `${id} is declared twice`);
    seen.add(id);
  }
}

/** Reports models that are not declared, or that the channel's protocol cannot serve. */
function findUnservableModels(config: WeirYaml, declared: Declared, add: Add): void {
  for (const [index, channel] of config.channels.entries()) {
    for (const id of Object.keys(channel.models)) {
      const pointer = `/channels/${index}/models/${pointerStep(id)}`;
      const model = declared.get(id);
      if (!model) add(pointer, unknownModel(id, declared));
      else if (model.family) {
        const protocols = FAMILY_PROTOCOLS[model.family];
        if (protocols.includes(channel.protocol)) continue;
        const problem = `cannot be served by a channel that speaks ${channel.protocol}`;
        add(pointer, `${problem}: needs ${joinNames(protocols, 'or')}`);
      }
    }
  }
}

/** Protocols of Azure OpenAI. */
const AZURE = ['azure-openai', 'azure-images'];
/** Addresses of Azure whose requests must have an `api-version`. The path `/openai/v1` needs none. */
const VERSIONED = /\/openai(?:\/deployments\/[^/]+)?$/;

/** Reports settings that do not apply to a channel's protocol, and a missing version of Azure. */
function findUselessSettings(config: WeirYaml, add: Add): void {
  for (const [index, channel] of config.channels.entries()) {
    const { dialect, api_version, protocol, base_url } = channel;
    const pointer = `/channels/${index}`;
    const isAzure = AZURE.includes(protocol);
    if (dialect !== undefined && protocol !== 'openai') {
      add(`${pointer}/dialect`, `applies only to the protocol openai, not to ${protocol}`);
    }
    if (api_version !== undefined && !isAzure) {
      add(
        `${pointer}/api_version`,
        `applies only to ${joinNames(AZURE, 'and')}, not to ${protocol}`,
      );
    }
    if (isAzure && api_version === undefined && VERSIONED.test(base_url)) {
      add(`${pointer}/base_url`, 'needs api_version; write e.g. api_version: 2025-04-01-preview');
    }
  }
}

function unknownModel(id: string, declared: Declared): string {
  const owner = [...declared.values()].find(({ aliases }) => aliases?.includes(id));
  const meant = owner?.id ?? closestName(id, [...declared.keys()]);
  const problem = 'is not a model of the catalogue or of this file';
  return meant ? `${problem}; did you mean ${meant}?` : problem;
}

/**
 * Reports default models that are not declared, that no channel serves, or that belong to another
 * scene (what a model makes, e.g. `image`). With such a default, every call of the scene that names
 * no model fails.
 */
function findWrongDefaults(config: WeirYaml, declared: Declared, add: Add): void {
  const served = new Set(config.channels.flatMap(({ models }) => Object.keys(models)));
  for (const [scene, name] of Object.entries(config.default_models)) {
    const pointer = `/default_models/${scene}`;
    const model =
      declared.get(name) ?? [...declared.values()].find(({ aliases }) => aliases?.includes(name));
    if (!model) add(pointer, unknownModel(name, declared));
    else if (!served.has(model.id)) add(pointer, `no channel serves ${name}`);
    else if (model.category !== scene) add(pointer, `${name} does not make ${scene}`);
  }
}
