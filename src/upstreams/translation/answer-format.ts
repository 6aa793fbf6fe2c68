/** What stands for JSON mode and for a JSON schema where a model does not take them. */
import type { Abilities } from '../../catalogue/abilities.ts';
import type { Format, NeutralRequest } from './neutral.ts';

/**
 * The text of each instruction has fewer tokens than the client's own member for the format has
 * bytes, so the reservation covers it.
 */
const JSON_MODE = 'Answer with one JSON object, without Markdown.';
const SCHEMA = 'Answer only with JSON, without Markdown, that matches this JSON Schema:';

/** Returns the request with an instruction in place of a format that the model does not take. */
export function fitFormat(request: NeutralRequest, { json_schema }: Abilities): NeutralRequest {
  const { format, tools } = request;
  if (!format || json_schema === 'always') return request;
  return json_schema === 'without_tools' && tools.length === 0 ? request : instructed(request);
}

/** Returns the request with an instruction in place of its format. */
export function instructed(request: NeutralRequest): NeutralRequest {
  const { format, ...rest } = request;
  return format ? { ...rest, system: [...request.system, instruction(format)] } : request;
}

function instruction(format: Format): string {
  return format.type === 'json' ? JSON_MODE : `${SCHEMA} ${JSON.stringify(format.schema)}`;
}
