/** What a request asks as items, each with an id, as they are kept and listed. */
export function itemsOf(input: unknown): object[] {
  if (typeof input === 'string') {
    return [
      named({ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }),
    ];
  }
  return Array.isArray(input) ? input.map((item: object) => named(item)) : [];
}

function named(item: object): object {
  if ('id' in item && typeof item.id === 'string') return item;
  const type = 'type' in item && typeof item.type === 'string' ? item.type : 'message';
  return {
    id: `${PREFIXES[type] ?? 'item'}_${crypto.randomUUID().replaceAll('-', '')}`,
    type,
    ...item,
  };
}

const PREFIXES: Record<string, string> = {
  message: 'msg',
  function_call: 'fc',
  function_call_output: 'fco',
  reasoning: 'rs',
};
