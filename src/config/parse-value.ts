/**
 * A setting from the environment as the type that its JSON Schema wants: numbers and booleans are
 * read, nothing is rounded or guessed. Text that is none of it stays text, which validation refuses.
 */
export function parseValue(type: unknown, text: string): unknown {
  switch (type) {
    case 'integer':
    case 'number': {
      const number = Number(text);
      return text.trim() === '' || !Number.isFinite(number) ? text : number;
    }
    case 'boolean':
      return text === 'true' || text === 'false' ? text === 'true' : text;
    default:
      return text;
  }
}
