import type { KlingElement } from '../../catalogue/inputs.ts';

/**
 * Replaces the client's names of elements in a prompt by the provider's names. An element is a
 * subject of a video that the client describes with images. Each `@name` becomes `nameOf(number)`;
 * the first element has the number 1.
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
