/**
 * Tools of OpenAI responses that are more than functions: custom tools, whose input is plain text, and
 * namespaces of tools (openai@7.55.0 resources/responses/responses.d.ts: CustomTool, NamespaceTool). Other
 * protocols know only functions, so each tool becomes a function, and its calls are turned back.
 */
import { CHAT_PATHS, isLeftOut } from '../../catalogue/left-out.ts';
import { isObject, withoutUndefined } from '../../json/object.ts';
import { readFunction } from './chat-request.ts';
import type { AssistantPart, Tool } from './neutral.ts';
import {
  type FeatureUses,
  listOrEmpty,
  parseArguments,
  type ReadonlyJsonObject,
  requireObject,
  requireText,
} from './reading.ts';

type Call = Extract<AssistantPart, { type: 'call' }>;

/** What a function of the translated request was in the client's request. */
interface ClientTool {
  readonly name: string;
  readonly namespace?: string;
  readonly isCustom: boolean;
}

/** Reads the tools of a request. Throws WeirError (400) if a tool has the wrong form. */
export function readTools(body: ReadonlyJsonObject, features: FeatureUses): Tool[] {
  const { tool_choice } = body;
  const isForced = tool_choice === 'required' || isObject(tool_choice);
  return listOrEmpty(body['tools']).flatMap((value, at) =>
    readTool(value, `tools[${at}]`, isForced, features),
  );
}

function readTool(
  value: unknown,
  param: string,
  isForced: boolean,
  features: FeatureUses,
  namespace?: unknown,
): Tool[] {
  const tool = requireObject(value, param);
  switch (tool['type']) {
    case 'function': {
      features.note('tools', param);
      const read = readFunction(tool, param, features);
      return [{ ...read, name: flatName(namespace, read.name) }];
    }
    case 'custom':
      features.note('tools', param);
      return [readCustom(tool, param, namespace)];
    case 'namespace': {
      const name = requireText(tool['name'], `${param}.name`);
      return listOrEmpty(tool['tools']).flatMap((each, at) =>
        readTool(each, `${param}.tools[${at}]`, isForced, features, name),
      );
    }
    default:
      if (isForced || !isLeftOut(CHAT_PATHS.responses, 'tools[].type', tool['type'])) {
        features.note('other_tools', `${param}.type`);
      }
      return [];
  }
}

/** A custom tool becomes a function with one text. A grammar is told in the description. */
function readCustom(tool: ReadonlyJsonObject, param: string, namespace: unknown): Tool {
  const { description, format } = tool;
  const grammar = isObject(format) && format['type'] === 'grammar' ? format : undefined;
  const texts = [
    ...(typeof description === 'string' ? [description] : []),
    ...(grammar
      ? [`The input must match this ${grammar['syntax']} grammar:\n${grammar['definition']}`]
      : []),
  ];
  return withoutUndefined({
    name: flatName(namespace, requireText(tool['name'], `${param}.name`)),
    description: texts.length > 0 ? texts.join('\n\n') : undefined,
    parameters: {
      type: 'object',
      properties: { input: { type: 'string', description: 'The whole input of the tool.' } },
      required: ['input'],
      additionalProperties: false,
    },
  });
}

/** Returns the name of a function that stands for a tool in a namespace, or for a plain tool. */
export function flatName(namespace: unknown, name: string): string {
  if (typeof namespace !== 'string' || namespace === '') return name;
  return namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`;
}

/** Returns the arguments of the function that stands for a custom tool. */
export function customArguments(input: string): string {
  return JSON.stringify({ input });
}

/** Returns the input of a custom tool from the arguments of its function. */
export function customInput(text: string): string {
  const { input } = parseArguments(text);
  return typeof input === 'string' ? input : text;
}

export function isCustomTool(request: ReadonlyJsonObject, name: string): boolean {
  return clientTool(request, name).isCustom;
}

/** Returns a call as an item. If `status` is `in_progress`, its input is still empty. */
export function callItem(
  { id: call_id, name: flat, arguments: text }: Call,
  id: string,
  status: 'in_progress' | 'completed',
  request: ReadonlyJsonObject,
): object {
  const { name, namespace, isCustom } = clientTool(request, flat);
  const inside = namespace === undefined ? {} : { namespace };
  if (!isCustom) {
    return { id, type: 'function_call', status, call_id, name, ...inside, arguments: text };
  }
  const input = status === 'completed' ? customInput(text) : '';
  return { id, type: 'custom_tool_call', status, call_id, name, ...inside, input };
}

/** Finds the client's tool for a function. An unknown function is a plain function. */
function clientTool(request: ReadonlyJsonObject, flat: string): ClientTool {
  return find(listOrEmpty(request['tools']), flat) ?? { name: flat, isCustom: false };
}

function find(tools: readonly unknown[], flat: string, namespace?: string): ClientTool | undefined {
  for (const tool of tools) {
    if (!isObject(tool) || typeof tool['name'] !== 'string') continue;
    const { name, type } = tool;
    if (type === 'namespace') {
      const found = find(listOrEmpty(tool['tools']), flat, name);
      if (found) return found;
    } else if (flatName(namespace, name) === flat) {
      const inside = namespace === undefined ? {} : { namespace };
      return { name, ...inside, isCustom: type === 'custom' };
    }
  }
  return undefined;
}
