import type { Model } from '../../api/types.ts';

/** What the playground makes. */
export const SCENES = ['chat', 'image', 'video', 'music', 'speech'] as const;
export type Scene = (typeof SCENES)[number];

/** The category of the models of each scene. */
export const CATEGORY_OF: Record<Scene, Model['category']> = {
  ...{ chat: 'chat', image: 'image', video: 'video', music: 'music', speech: 'tts' },
};

/** Returns the scene in which a model can be tried; undefined if the playground has none. */
export function sceneOfModel({ category }: Pick<Model, 'category'>): Scene | undefined {
  return SCENES.find((scene) => CATEGORY_OF[scene] === category);
}

/** What the playground shows: its address has it. */
export interface PlaygroundSearch {
  readonly scene?: Scene | undefined;
  /** The models side by side. */
  readonly models?: readonly string[] | undefined;
  /** The id of the API key that pays. */
  readonly key?: string | undefined;
}

/** The most models side by side. */
export const MAX_COLUMNS = 4;

/** Reads the search of the address. What it does not know is left out. */
export function readPlaygroundSearch(given: Record<string, unknown>): PlaygroundSearch {
  const { models, key } = given;
  const named = (Array.isArray(models) ? models : [models]).filter(
    (each): each is string => typeof each === 'string' && each !== '',
  );
  return {
    scene: SCENES.find((each) => each === given['scene']),
    models: named.length > 0 ? named.slice(0, MAX_COLUMNS) : undefined,
    key: typeof key === 'string' && key !== '' ? key : undefined,
  };
}
