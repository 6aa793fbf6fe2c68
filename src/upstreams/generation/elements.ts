import type { KlingElement } from '../../catalogue/inputs.ts';

/**
 * Returns the prompt with the provider's names of the elements: each `@name` is replaced by
 * `nameOf(number)`, where the first element has the number 1.
 */
export function nameElements(
  prompt: string | undefined,
  elements: readonly Pick<KlingElement, 'name'>[],
  nameOf: (number: number) => string,
): string | undefined {
  if (elements.length === 0) return prompt;
  // The whole name is matched, so that `@cat` is not replaced inside of `@cats`.
  return prompt?.replace(/@([A-Za-z0-9_-]+)/g, (text, name: string) => {
    const index = elements.findIndex((element) => element.name === name);
    return index < 0 ? text : nameOf(index + 1);
  });
}
