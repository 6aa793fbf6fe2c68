import type { OwnKey } from '../../../api/types.ts';

/** The models of an own key as lines of a text: `gpt-4o`, or `gpt-4o = my-deployment`. */
export const textOfModels = (models: OwnKey['models']): string =>
  models
    .map(({ id, upstream_model }) => (id === upstream_model ? id : `${id} = ${upstream_model}`))
    .join('\n');

/** The member `models` of the API: public id → id at the provider; undefined if the text names none. */
export function modelsOfText(text: string): Record<string, string> | undefined {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (lines.length === 0) return undefined;
  return Object.fromEntries(
    lines.map((line) => {
      const [id = '', ...upstream] = line.split('=');
      return [id.trim(), upstream.join('=').trim() || id.trim()];
    }),
  );
}
