/**
 * Tools that Codex 0.169.0 offers: namespaces, custom tools and a web search, as it sends them
 * (codex-rs tools; types: openai@7.55.0 resources/responses/responses.d.ts).
 */
import { expect, test } from 'bun:test';
import type { AssistantPart, UserPart } from '../../../src/upstreams/translation/neutral.ts';
import { writeResponse } from '../../../src/upstreams/translation/responses-answer.ts';
import { readResponses } from '../../../src/upstreams/translation/responses-request.ts';
import { ResponsesWriter } from '../../../src/upstreams/translation/responses-stream.ts';

const parameters = { type: 'object', properties: {} };
const request = {
  model: 'm',
  client_metadata: { thread_id: 't' },
  tools: [
    { type: 'namespace', name: 'agents', tools: [{ type: 'function', name: 'close', parameters }] },
    {
      ...{ type: 'custom', name: 'apply_patch', description: 'Edits files.' },
      format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
    },
    { type: 'web_search', external_web_access: true },
  ],
  input: [
    { role: 'user', content: 'Go' },
    { type: 'web_search_call', id: 'ws_1', status: 'completed' },
    { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: 'x' },
    { type: 'custom_tool_call_output', call_id: 'c1', output: 'done' },
    { type: 'function_call', call_id: 'c2', namespace: 'agents', name: 'close', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c2', output: 'closed' },
  ],
};
const names = { id: 'resp_1', model: 'm', created: 1, request };
const calls = [
  { type: 'call' as const, id: 'c3', name: 'apply_patch', arguments: '{"input":"x y"}' },
  { type: 'call' as const, id: 'c4', name: 'agents__close', arguments: '{}' },
];

test('namespaces and custom tools become functions, and a free search is left out', () => {
  const { request: read, uses } = readResponses(request);
  expect(uses.map(({ feature }) => feature)).toEqual(['tools', 'tools']);
  expect(read.tools.map(({ name }) => name)).toEqual(['agents__close', 'apply_patch']);
  expect(read.tools[1]?.description).toContain('start: "x"');
  const parts = read.turns.flatMap((turn): readonly (AssistantPart | UserPart)[] => turn.parts);
  expect(parts.filter(({ type }) => type === 'call')).toEqual([
    { type: 'call', id: 'c1', name: 'apply_patch', arguments: '{"input":"x"}' },
    { type: 'call', id: 'c2', name: 'agents__close', arguments: '{}' },
  ]);
});

test('a search that the request forces is refused by name', () => {
  const { uses } = readResponses({ ...request, tool_choice: 'required' });
  expect(uses).toContainEqual({ feature: 'other_tools', param: 'tools[2].type' });
});

test('calls return as the client named them, whole and streamed', () => {
  const shown = [
    { type: 'custom_tool_call', call_id: 'c3', name: 'apply_patch', input: 'x y' },
    { type: 'function_call', call_id: 'c4', namespace: 'agents', name: 'close', arguments: '{}' },
  ];
  expect(writeResponse({ parts: calls, stop: 'calls', usage: null }, names)).toMatchObject({
    output: shown,
  });
  const writer = new ResponsesWriter(names);
  let text = writer.write({ type: 'start' });
  for (const { arguments: given, ...part } of calls) {
    text += writer.write({ type: 'open', part });
    text += writer.write({ type: 'delta', text: given.slice(0, 2) });
    text += writer.write({ type: 'delta', text: given.slice(2) });
    text += writer.write({ type: 'close' });
  }
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''));
  const done = events.filter(({ type }) => type === 'response.output_item.done');
  expect(done.map(({ item }) => item)).toMatchObject(shown);
  expect(events.filter(({ type }) => type.includes('custom_tool_call_input'))).toMatchObject([
    { type: 'response.custom_tool_call_input.delta', delta: 'x y' },
    { type: 'response.custom_tool_call_input.done', input: 'x y' },
  ]);
});
