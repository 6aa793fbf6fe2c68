/**
 * What Bedrock's copy of Anthropic's messages lacks. Each list names its source.
 */
import { type Abilities, abilitiesOn } from '../../catalogue/abilities.ts';
import { abilitiesByName } from '../../catalogue/built-in.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { editItems } from '../../json/items.ts';
import { type Edit, editMembers } from '../../json/members.ts';
import { isObject } from '../../json/object.ts';
import type { ClientProtocol } from '../../protocols/names.ts';
import type { UpstreamCall } from '../contract.ts';
import type { Feature } from '../translation/features.ts';
import type { FeatureUse } from '../translation/neutral.ts';

/**
 * The beta flags that Bedrock knows. It refuses a request with any other flag (AWS docs: Anthropic
 * Claude Messages API, listed in BerriAI/litellm#19877; BerriAI/litellm#41203;
 * @ai-sdk/amazon-bedrock 5.0.101; router-for-me/CLIProxyAPI#4750).
 */
const KNOWN_BETAS: ReadonlySet<string> = new Set([
  ...['computer-use-2024-10-22', 'computer-use-2025-01-24', 'computer-use-2025-11-24'],
  ...['token-efficient-tools-2025-02-19', 'interleaved-thinking-2025-05-14'],
  ...['output-128k-2025-02-19', 'dev-full-thinking-2025-05-14', 'context-1m-2025-08-07'],
  ...['context-management-2025-06-27', 'effort-2025-11-24', 'tool-search-tool-2025-10-19'],
  ...['tool-examples-2025-10-29', 'fine-grained-tool-streaming-2025-05-14', 'compact-2026-01-12'],
  'structured-outputs-2025-12-15',
]);
/** The flag that every model with thinking accepts (anthropics/claude-code#49370). */
const COMMON_BETAS: ReadonlySet<string> = new Set(['interleaved-thinking-2025-05-14']);
/** A member that only works with a flag, and that Claude Code sends with each request. */
const NEEDS_BETA = 'context_management';
const STREAMED_ARGUMENTS = 'fine-grained-tool-streaming-2025-05-14';

/** A model at Bedrock. */
interface BedrockModel {
  readonly physical_model: string;
  readonly public_model: string;
  readonly abilities?: Abilities | undefined;
}

/**
 * Returns what the model can do at Bedrock. A model that declares no abilities has those of the model
 * of the catalogue that its name contains. An ARN does not name the model.
 */
function abilitiesAt({ physical_model, public_model, abilities }: BedrockModel) {
  if (abilities) return abilities;
  const known = abilitiesByName(physical_model) ?? abilitiesByName(public_model);
  return abilitiesOn(known, 'bedrock');
}

/**
 * Returns a 400 error for the first parameter that a Bedrock channel cannot serve: images and
 * documents by URL, and a JSON schema on some models. The error names the client's parameter. Returns
 * undefined if the channel can serve the request. `uses` are the features of a request that is
 * translated.
 */
export function bedrockRefusal(
  request: { readonly client: ClientProtocol; readonly body: Readonly<Record<string, unknown>> },
  model: BedrockModel,
  uses: () => readonly FeatureUse[],
): WeirError | undefined {
  const hasSchemas = abilitiesAt(model)?.json_schema !== 'never';
  if (request.client === 'anthropic') {
    const source = urlSource(request.body['messages'], 'messages');
    if (source !== undefined) return byUrl(source);
    const schema = hasSchemas ? undefined : schemaIn(request.body);
    return schema && withoutSchema(schema);
  }
  const use = uses().find(({ feature }) => BY_URL.includes(feature));
  if (use) return byUrl(use.param);
  // A model with abilities gets an instruction instead.
  if (model.abilities || hasSchemas) return undefined;
  const schema = uses().find(({ feature }) => feature === 'json_schema');
  return schema && withoutSchema(schema.param);
}

const BY_URL: readonly Feature[] = ['image_url', 'file_url', 'file_reference'];

function byUrl(param: string): WeirError {
  const message = `${param}: files by URL cannot be used with this model.`;
  const hint = 'Send the file itself, as base64.';
  return new WeirError('invalid_request', message, { param, hint });
}

function withoutSchema(param: string): WeirError {
  const message = `${param}: a JSON schema for the answer cannot be used with this model.`;
  const hint = 'Use a tool with this schema, or another model.';
  return new WeirError('invalid_request', message, { param, hint });
}

/** Returns the path of the first source with the type `url` in messages or in content blocks. */
function urlSource(blocks: unknown, path: string): string | undefined {
  if (!Array.isArray(blocks)) return undefined;
  for (const [at, block] of blocks.entries()) {
    if (!isObject(block)) continue;
    const here = `${path}.${at}`;
    if (isObject(block['source']) && block['source']['type'] === 'url') return `${here}.source`;
    // Messages, and the results of tools, have content of their own.
    const inner = urlSource(block['content'], `${here}.content`);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function schemaIn({ output_config, output_format }: Readonly<Record<string, unknown>>) {
  if (isObject(output_config) && isObject(output_config['format'])) return 'output_config.format';
  return isObject(output_format) ? 'output_format' : undefined;
}

/** Returns the beta flags of a request, from its header and its body. */
export function betasOf({ headers, body }: UpstreamCall): string[] {
  const listed = body['anthropic_beta'];
  const flags = [
    ...(headers['anthropic-beta']?.split(',') ?? []),
    ...(Array.isArray(listed) ? listed.map(String) : []),
    ...(hasStreamedArguments(body['tools']) ? [STREAMED_ARGUMENTS] : []),
  ];
  return [...new Set(flags.map((flag) => flag.trim()))];
}

/**
 * Returns the edits that set the beta flags. Flags that Bedrock does not know are left out. If
 * `isStrict`, only the flags remain that every model accepts. A model may refuse a flag that Bedrock
 * knows.
 */
export function betaEdits(call: UpstreamCall, isStrict: boolean): Record<string, Edit> {
  const known = isStrict ? COMMON_BETAS : KNOWN_BETAS;
  const betas = betasOf(call).filter((flag) => known.has(flag));
  const isManaged = betas.some((flag) => flag.startsWith('context-management'));
  return {
    anthropic_beta: betas.length > 0 ? JSON.stringify(betas) : null,
    ...(isManaged ? {} : { [NEEDS_BETA]: null }),
  };
}

const BAD_FLAG = /invalid beta flag/i;

/** True if Bedrock refused a request because of its beta flags (anthropics/claude-code#49648). */
export function refusesBetas(status: number, text: string): boolean {
  return status === 400 && BAD_FLAG.test(text);
}

function modelOf({ physical_model, public_model, model_abilities }: UpstreamCall): BedrockModel {
  return { physical_model, public_model, abilities: model_abilities };
}

function hasStreamedArguments(tools: unknown): boolean {
  return (
    Array.isArray(tools) &&
    tools.some((tool) => isObject(tool) && tool['eager_input_streaming'] === true)
  );
}

/**
 * Returns an edit of the tools. Bedrock refuses `eager_input_streaming`, for which it has a beta
 * flag (@ai-sdk/amazon-bedrock 5.0.101). `strict` is left out for models that do not know it: the
 * model then follows the tool's schema as well as it can, at the same price. `before` is applied
 * first. Returns undefined if nothing changes.
 */
export function toolEdit(call: UpstreamCall, before: Edit | undefined): Edit | undefined {
  const { tools } = call.body;
  if (!Array.isArray(tools)) return before;
  const removed = ['eager_input_streaming'];
  if (abilitiesAt(modelOf(call))?.strict_tools === false) removed.push('strict');
  const isConcerned = (tool: unknown) =>
    isObject(tool) && removed.some((member) => tool[member] !== undefined);
  if (!tools.some(isConcerned)) return before;
  const edits = Object.fromEntries(removed.map((member) => [member, null]));
  return (text) => {
    const edited = typeof before === 'function' ? before(text) : text;
    return editItems(edited, (tool, at) =>
      isConcerned(tools[at]) ? editMembers(tool, edits) : tool,
    );
  };
}
