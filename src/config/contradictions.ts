import { type ModelDeclaration, ModelSchema } from '../catalogue/schema.ts';
import { closestName } from '../errors/closest-name.ts';
import type { WeirYaml } from './schema.ts';
import { pointerStep } from './yaml-source.ts';

type Add = (pointer: string, message: string) => void;

/** Finds what a schema cannot say: names used twice, models that nobody declares. */
export function findContradictions(
  config: WeirYaml,
  known: readonly ModelDeclaration[],
  add: Add,
): void {
  findRepeated(config.channels, 'channels', add);
  findRepeated(config.models, 'models', add);
  findIncompleteModels(config, known, add);
  findUnknownModels(config, known, add);
}

function findRepeated(entries: readonly { id: string }[], list: string, add: Add): void {
  const seen = new Set<string>();
  for (const [index, { id }] of entries.entries()) {
    if (seen.has(id)) add(`/${list}/${index}/id`, `${id} is declared twice`);
    seen.add(id);
  }
}

/** A model that the catalogue does not have needs all that it would have. */
function findIncompleteModels(
  config: WeirYaml,
  known: readonly ModelDeclaration[],
  add: Add,
): void {
  const required = ModelSchema.required ?? [];
  for (const [index, model] of config.models.entries()) {
    if (known.some(({ id }) => id === model.id)) continue;
    for (const field of required.filter((name) => !Object.hasOwn(model, name))) {
      add(
        `/models/${index}/${field}`,
        `is required: the catalogue has no ${model.id} to take it from`,
      );
    }
  }
}

function findUnknownModels(config: WeirYaml, known: readonly ModelDeclaration[], add: Add): void {
  const declared = [...known, ...config.models];
  const ids = new Set(declared.map(({ id }) => id));
  for (const [index, channel] of config.channels.entries()) {
    for (const id of Object.keys(channel.models)) {
      if (ids.has(id)) continue;
      const pointer = `/channels/${index}/models/${pointerStep(id)}`;
      const owner = declared.find(({ aliases }) => aliases?.includes(id));
      const meant = owner?.id ?? closestName(id, [...ids]);
      add(
        pointer,
        `is not a model of the catalogue or of this file${meant ? `; did you mean ${meant}?` : ''}`,
      );
    }
  }
}
