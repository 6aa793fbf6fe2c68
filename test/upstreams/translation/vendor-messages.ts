/**
 * Errors that providers' APIs really sent, word for word, with their sources. The paths fit the
 * request of `refusals.test.ts`.
 */
import type { RequestProtocol } from '../../../src/upstreams/translation/translate.ts';

export interface VendorMessage {
  readonly message: string;
  readonly param?: string;
}

const said = (message: string, param?: string): VendorMessage => ({
  message,
  ...(param === undefined ? {} : { param }),
});

export const VENDOR_MESSAGES: Record<RequestProtocol, readonly VendorMessage[]> = {
  anthropic: [
    // home-assistant/core#147760, anthropics/claude-code#1423
    said("tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
    // anthropics/claude-code#96152
    said('tools.0.custom.name: String should have at most 128 characters'),
    // anthropics/claude-code#86664
    said(
      'tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). Learn more about tool use at https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview.',
    ),
    // n8n-io/n8n#30590
    said(
      "tools.0.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
    ),
    // anthropics/claude-code#6695
    said('messages.1.content.0.tool_use.input: Input should be a valid dictionary'),
    said("messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"),
    // The simulator, from the docs of Messages
    said('messages.0.content: Field required'),
    said('messages: text content blocks must be non-empty'),
    said('messages: at least one message is required'),
    said('messages: Unexpected role "developer". Allowed roles are "user" or "assistant"'),
    said('system.0.text: Field required'),
    said('temperature: Input should be less than or equal to 1'),
    said('stop_sequences.0: each stop sequence must contain non-whitespace'),
    said('metadata.user_id: should match pattern "^[a-zA-Z0-9]+$"'),
    said('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024'),
    said(
      '`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size',
    ),
    said('`temperature` and `top_p` cannot both be specified for this model. Please use only one.'),
    said(
      'max_tokens: 100 > 64, which is the maximum allowed number of output tokens for claude-haiku-4-5',
    ),
    said(
      'messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: call_a1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
    ),
    said(
      'messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: call_a1. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
    ),
    said('messages.2.content.0.tool_result.content.0.text.text: Field required'),
    said('messages.0.content.0.image.source.base64.data: Could not process image'),
    said(
      'messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes',
    ),
    said('tool_choice.disable_parallel_tool_use: Extra inputs are not permitted'),
    said('output_config.format.schema: Field required'),
    said('prompt is too long: 250000 tokens > 200000 maximum'),
    said('Output blocked by content filtering policy'),
    // Bedrock: crmne/ruby_llm#586, fumito-ito/AnthropicSwiftSDK#19
    said(
      'Malformed input request: #/messages/0/content/0: extraneous key [type] is not permitted, reformat your input and try again.',
    ),
    said(
      'Malformed input request: #: subject must not be valid against schema {"required":["messages"]}#: extraneous key [stream] is not permitted, please reformat your input and try again.',
    ),
    said(
      'Malformed input request: #: required key [anthropic_version] not found, please reformat your input and try again.',
    ),
    said('Input is too long for requested model.'),
  ],
  gemini: [
    // google-gemini/gemini-cli#6704
    said(
      '* GenerateContentRequest.tools[0].function_declarations[0].name: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.) or dashes (-), with a maximum length of 64.\n',
    ),
    // google-gemini/gemini-cli#7878
    said(
      'The GenerateContentRequest proto is invalid:\n  * tools[0].function_declarations[1].name: [FIELD_INVALID] Invalid function name.',
    ),
    // cline/cline#7339
    said(
      '* GenerateContentRequest.tools[0].function_declarations[0].parameters.properties[city].items: missing field.',
    ),
    // google/adk-python#1277
    said(
      'Invalid JSON payload received. Unknown name "additional_properties" at \'tools[0].function_declarations[0].parameters\': Cannot find field.',
    ),
    // google-gemini/deprecated-generative-ai-js#125
    said(
      'Invalid JSON payload received. Unknown name "tools" at \'generation_config\': Cannot find field.',
    ),
    // makenotion/notion-mcp-server#29
    said(
      'Invalid JSON payload received. Unknown name "type" at \'tools[0].function_declarations[0].parameters.properties[0].value\': Proto field is not repeating, cannot start list.',
    ),
    said('* GenerateContentRequest.contents: contents is not specified\n'),
    said('* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.\n'),
    said('* contents.parts: parts is not specified'),
    said(
      'Unable to submit request because it must include at least one parts field, which describes the prompt input.',
    ),
    said('Invalid value at \'generation_config.max_output_tokens\' (TYPE_INT32), "lots"'),
    said("Invalid value at 'generation_config.temperature' (TYPE_FLOAT), 9"),
    said(
      '* GenerateContentRequest.generation_config.response_schema.properties: should be non-empty for OBJECT type\n',
    ),
    said(
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
    ),
    said(
      'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    ),
    said('Function call is missing a thought_signature in functionCall parts.'),
    said('Please use a valid role: user, model.'),
    said(
      '* GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.\n',
    ),
    said(
      'Unable to process input image. Please retry or report in https://developers.generativeai.google/guide/troubleshooting',
    ),
    said('The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'),
    said('Developer instruction is not enabled for models/gemini-2.5-flash'),
    said('Thinking budget 9 is invalid. Please choose a value between 512 and 24576.'),
    said('Request contains an invalid argument.'),
  ],
  openai: [
    // mcp-use/mcp-use#94, xinnan-tech/xiaozhi-esp32-server#1466
    said(
      "Invalid 'messages[2].tool_calls[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
      'messages[2].tool_calls[0].function.name',
    ),
    said(
      "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
      'tools[0].function.name',
    ),
    // bytedance/trae-agent#173
    said(
      "Invalid schema for function 'get_weather': In context=('properties', 'city'), 'additionalProperties' is required to be supplied and to be false.",
      'tools[0].function.parameters',
    ),
    // FoundationAgents/OpenManus#744
    said("Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"),
    said(
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_a1",
      'messages.[3].role',
    ),
    said("Missing required parameter: 'messages[0].content'.", 'messages[0].content'),
    said(
      "Missing required parameter: 'messages[1].content[0].image_url'.",
      'messages[1].content[0].image_url',
    ),
    said(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'max_tokens',
    ),
    said(
      "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
      'temperature',
    ),
    said('Unrecognized request argument supplied: reasoning_effort', 'reasoning_effort'),
    said("Unknown parameter: 'parallel_tool_calls'.", 'parallel_tool_calls'),
    said(
      'max_completion_tokens is too large: 100. This model supports at most 64 completion tokens',
      'max_completion_tokens',
    ),
    said(
      "Invalid value: 'tool'. Supported values are: 'system', 'assistant', 'user', and 'function'.",
      'messages[3].role',
    ),
    said(
      "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
      'response_format',
    ),
    said(
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
      'messages',
    ),
    said('You uploaded an unsupported image. Please make sure your image is valid.'),
    said(
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages.",
      'messages',
    ),
    said(
      'Your request was rejected as a result of our safety system. Your prompt was flagged as potentially violating our usage policy.',
    ),
  ],
  responses: [
    said(
      "Invalid 'tools[0].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
      'tools[0].name',
    ),
    said(
      "Invalid 'input[2].name': empty string. Expected a string with minimum length 1.",
      'input[2].name',
    ),
    said('No tool output found for function call call_a1.', 'input'),
    said('No tool call found for function call output with call_id call_a1.', 'input'),
    said("Missing required parameter: 'input[1].content'.", 'input[1].content'),
    said("Unsupported parameter: 'top_p' is not supported with this model.", 'top_p'),
    said(
      "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead.",
      'max_output_tokens',
    ),
    said(
      "Invalid schema for response_format 'answer': schema must be a JSON Schema of 'type: \"object\"'.",
      'text.format.schema',
    ),
    said("Unknown parameter: 'reasoning.effort'.", 'reasoning.effort'),
    said(
      "Invalid value: 'text'. Supported values are: 'input_text', 'input_image', 'output_text', 'refusal' and 'input_file'.",
      'input[1].content[0].type',
    ),
    said("The 'data' parameter of 'input_image' is not valid.", 'input[1].content[0].image_url'),
    said(
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
      'input',
    ),
  ],
};
