/** Writes requests for upstreams with Gemini's generateContent. */
import type { Abilities } from '../../catalogue/abilities.ts';
import { parseExact } from '../../json/exact-integers.ts';
import { isObject, withoutUndefined } from '../../json/object.ts';
import { SKIPPED_SIGNATURE } from '../../protocols/signatures.ts';
import { budgetOf, effortOf } from './abilities.ts';
import type {
  AssistantPart,
  FilePart,
  ImagePart,
  NeutralRequest,
  Reasoning,
  TextPart,
  Tool,
  UserPart,
} from './neutral.ts';
import { parseArguments } from './reading.ts';
import { signatureIn } from './thought-signature.ts';

/** Returns the body of the request, without `model` and `stream`. */
export function writeGemini(
  request: NeutralRequest,
  abilities?: Abilities,
): Record<string, unknown> {
  const { system, tools, stop, format } = request;
  const names = new Map<string, string>();
  for (const { role, parts } of request.turns) {
    if (role !== 'assistant') continue;
    for (const part of parts) if (part.type === 'call') names.set(part.id, part.name);
  }
  return withoutUndefined({
    systemInstruction: system.length > 0 ? { parts: system.map((text) => ({ text })) } : undefined,
    contents: request.turns
      .map((turn) =>
        turn.role === 'assistant'
          ? { role: 'model', parts: writeModelParts(turn.parts) }
          : { role: 'user', parts: turn.parts.map((part) => writeUserPart(part, names)) },
      )
      // Gemini refuses content without parts.
      .filter(({ parts }) => parts.length > 0),
    tools: tools.length > 0 ? [{ functionDeclarations: tools.map(writeTool) }] : undefined,
    toolConfig: tools.length > 0 ? writeChoice(request) : undefined,
    generationConfig: withoutUndefined({
      maxOutputTokens: request.max_output_tokens,
      temperature: request.temperature,
      topP: request.top_p,
      topK: request.top_k,
      seed: request.seed,
      presencePenalty: request.presence_penalty,
      frequencyPenalty: request.frequency_penalty,
      stopSequences: stop.length > 0 ? stop : undefined,
      responseMimeType: format ? 'application/json' : undefined,
      responseJsonSchema: format?.type === 'schema' ? format.schema : undefined,
      thinkingConfig: writeThinking(request.reasoning, abilities),
    }),
  });
}

function writeUserPart(part: UserPart | TextPart, names: ReadonlyMap<string, string>): object {
  switch (part.type) {
    case 'text':
      return { text: part.text };
    case 'image':
      return writeFile(part);
    case 'audio':
      return { inlineData: { mimeType: `audio/${part.format}`, data: part.data } };
    case 'file':
      return writeFile(part);
    case 'result': {
      const text = part.parts.map((each) => (each.type === 'text' ? each.text : '')).join('\n');
      const response = part.is_error ? { error: text } : toResultObject(text);
      const name = names.get(part.call_id) ?? part.call_id;
      return { functionResponse: { id: part.call_id, name, response } };
    }
    default:
      return part satisfies never;
  }
}

/**
 * Returns the result of a tool call as an object, because Gemini accepts only objects. A result
 * that is not a JSON object is put into the member `result`.
 */
function toResultObject(text: string): object {
  try {
    const value = parseExact(text);
    return isObject(value) ? value : { result: value };
  } catch {
    return { result: text };
  }
}

function writeFile(file: ImagePart | FilePart): object {
  if (!('url' in file)) return { inlineData: { mimeType: file.media_type, data: file.data } };
  return { fileData: withoutUndefined({ mimeType: file.media_type, fileUri: file.url }) };
}

/**
 * Writes the parts of a turn. Gemini signs the first call of a step. If one call of the turn has its
 * signature, no call gets the value that stands for a missing one.
 */
function writeModelParts(parts: readonly AssistantPart[]): object[] {
  const isSigned = parts.some((part) => signatureIn(part) !== undefined);
  return parts.flatMap((part, at) =>
    writeModelPart(part, signatureIn(parts[at - 1]) ?? (isSigned ? undefined : SKIPPED_SIGNATURE)),
  );
}

function writeModelPart(part: AssistantPart, thoughtSignature: string | undefined): object[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ text: part.text }];
    case 'call': {
      const functionCall = {
        id: part.id,
        name: part.name,
        args: parseArguments(part.arguments),
      };
      return [withoutUndefined({ functionCall, thoughtSignature })];
    }
    case 'reasoning':
      return [];
    default:
      return part satisfies never;
  }
}

function writeTool({ name, description, parameters }: Tool): object {
  return withoutUndefined({ name, description, parametersJsonSchema: parameters });
}

/**
 * Writes the choice of tools. Strict tools need the mode `VALIDATED`, which keeps the model to the
 * schemas of its tools (@ai-sdk/google 4.0.121, google-prepare-tools.ts). `ANY` does that too.
 */
function writeChoice({ tools, tool_choice: choice }: NeutralRequest): object | undefined {
  const auto = tools.some(({ strict }) => strict) ? 'VALIDATED' : 'AUTO';
  if (!choice) return auto === 'AUTO' ? undefined : { functionCallingConfig: { mode: auto } };
  const mode = { auto, any: 'ANY', none: 'NONE', tool: 'ANY' }[choice.type];
  const allowed = choice.type === 'tool' ? { allowedFunctionNames: [choice.name] } : {};
  return { functionCallingConfig: { mode, ...allowed } };
}

/** Writes the setting as a level for the models that take one, else as a token budget. */
function writeThinking(
  reasoning: Reasoning | undefined,
  abilities: Abilities | undefined,
): object | undefined {
  if (!reasoning) return undefined;
  if ('off' in reasoning) return { thinkingBudget: 0 };
  return abilities?.reasoning.form === 'level'
    ? { thinkingLevel: effortOf(reasoning), includeThoughts: true }
    : { thinkingBudget: budgetOf(reasoning), includeThoughts: true };
}
