/**
 * Returns the input of a request as items. Each item has an id, because items are stored and
 * listed.
 */
export function itemsOf(input: unknown): object[] {
  if (typeof input === 'string') {
    return [
      completeItem({
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: input }],
      }),
    ];
  }
  return Array.isArray(input) ? input.map((item: object) => completeItem(item)) : [];
}

/** Returns the item. If it has no id, adds a new id, and a type if that is missing too. */
function completeItem(item: object): object {
  if ('id' in item && typeof item.id === 'string') return item;
  const type = 'type' in item && typeof item.type === 'string' ? item.type : 'message';
  return {
    id: `${PREFIXES[type] ?? 'item'}_${crypto.randomUUID().replaceAll('-', '')}`,
    type,
    ...item,
  };
}

/** The id prefix of each item type. */
const PREFIXES: Record<string, string> = {
  message: 'msg',
  function_call: 'fc',
  function_call_output: 'fco',
  reasoning: 'rs',
};
