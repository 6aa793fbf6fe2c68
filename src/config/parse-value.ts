/**
 * Returns a setting from the environment with the type of its JSON Schema. Numbers and booleans are
 * parsed, never rounded or guessed. A text that cannot be parsed stays a text, and the validation
 * refuses it.
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
