/** What the form of own keys sends. */
import { expect, test } from 'bun:test';
import {
  modelsOfText,
  textOfModels,
} from '../../../../web/pages/access/upstream-keys/models-text.ts';

test('models are lines: an id, or an id with its id at the provider', () => {
  const models = { 'gpt-4o': 'gpt-4o', 'gpt-4.1': 'my=deployment' };
  expect(modelsOfText(' gpt-4o \n\ngpt-4.1 = my=deployment')).toEqual(models);
  const listed = Object.entries(models).map(([id, upstream_model]) => ({ id, upstream_model }));
  expect(modelsOfText(textOfModels(listed))).toEqual(models);
  expect(modelsOfText(' \n')).toBeUndefined();
});
