import { google, listed } from './google-body.ts';
import { sent, type VendorErrors } from './payload.ts';

const tooLong = { error_id: 'context_length_exceeded' } as const;
const cli = (issue: number) => ({ source: `google-gemini/gemini-cli#${issue}` });
const bad = (message: string, ...details: object[]) =>
  google(400, 'INVALID_ARGUMENT', message, ...details);
/** An error of Claude in the message of an error of Google. */
const claude = (message: string) =>
  bad(
    JSON.stringify({
      type: 'error',
      error: { type: 'invalid_request_error', message },
      request_id: 'req_vrtx_011CX8LKNqFusFUVvygN5vEH',
    }),
  );
/** The detail that names the wrong fields (`google.rpc.BadRequest`). */
const wrongFields = (...fieldViolations: object[]) => ({
  '@type': 'type.googleapis.com/google.rpc.BadRequest',
  fieldViolations,
});
const unknownName = (name: string, at = '') =>
  `Invalid JSON payload received. Unknown name "${name}"${at}: Cannot find field.`;

/** Errors about the client's request. */
export const GOOGLE_REQUEST_ERRORS: VendorErrors = {
  vendor: 'Google',
  payloads: [
    sent(
      400,
      'caller',
      bad(
        'The input token count (3475108) exceeds the maximum number of tokens allowed (1048576).',
      ),
      { ...tooLong, ...cli(4231) },
    ),
    sent(
      400,
      'caller',
      listed(
        400,
        'INVALID_ARGUMENT',
        'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).',
        'badRequest',
      ),
      { ...tooLong, ...cli(6678) },
    ),
    sent(
      400,
      'caller',
      bad(
        unknownName('role', " at 'contents[0].parts'"),
        wrongFields({ field: 'contents[0].parts', description: unknownName('role') }),
      ),
      { source: 'gera2ld/ai.nvim#13' },
    ),
    sent(
      400,
      'caller',
      [
        bad(
          `${unknownName('extra_body', " at 'extra_body'")}\n${unknownName('frequency_penalty')}\n${unknownName('top_k')}`,
          wrongFields(
            { field: 'extra_body', description: unknownName('extra_body', " at 'extra_body'") },
            { description: unknownName('frequency_penalty') },
            { description: unknownName('top_k') },
          ),
        ),
      ],
      { source: 'MinLL/SkyrimNet-GamePlugin#77' },
    ),
    sent(
      400,
      'caller',
      bad(
        'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:Task` , position 2. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.',
      ),
      { source: 'lbjlaq/Antigravity-Manager#139' },
    ),
    sent(
      400,
      'caller',
      claude(
        'messages.243: `tool_use` ids were found without `tool_result` blocks immediately after: bash-uOQIdN0O. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
      ),
      { source: 'lbjlaq/Antigravity-Manager#654' },
    ),
    sent(400, 'caller', claude('messages.1.content.0: Invalid `signature` in `thinking` block'), {
      source: 'lbjlaq/Antigravity-Manager#498',
    }),
    sent(400, 'caller', bad('Unsupported MIME type: bad/mime_type'), {
      source: 'googleapis/python-genai google/genai/tests/client/test_upload_errors.py',
    }),
    sent(400, 'caller', bad('Multi-modal output is not supported.'), {
      source: 'googleapis/python-genai google/genai/tests/models/test_generate_content.py',
    }),
    sent(400, 'caller', bad('* GenerateContentRequest.contents: contents is not specified')),
    sent(
      400,
      'caller',
      bad(
        'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
      ),
      { source: 'continuedev/continue#11164' },
    ),
    sent(
      400,
      'caller',
      bad(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      ),
      { source: 'microsoft/vscode#299295' },
    ),
    sent(
      400,
      'caller',
      listed(
        400,
        'INVALID_ARGUMENT',
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
        'badRequest',
      ),
      cli(16132),
    ),
    // OpenRouter puts the error of Google, as a text, into its own.
    sent(
      400,
      'caller',
      {
        error: {
          message: 'Provider returned error',
          code: 400,
          metadata: {
            raw: JSON.stringify(
              bad(
                'Please ensure that function response turn comes immediately after a function call turn.',
              ),
            ),
            provider_name: 'Google AI Studio',
          },
        },
      },
      { source: 'lobehub/lobehub#7298' },
    ),
    sent(400, 'caller', bad('Request contains an invalid argument.')),
    sent(
      400,
      'caller',
      google(
        400,
        'FAILED_PRECONDITION',
        'The File abc-123 is not in an ACTIVE state and usage is not allowed.',
      ),
    ),
    sent(
      403,
      'unclear',
      google(
        403,
        'PERMISSION_DENIED',
        'You do not have permission to access the File abc-123 or it may not exist.',
      ),
      { source: 'googleapis/python-genai#1218' },
    ),
    sent(
      400,
      'caller',
      bad('The input token count exceeds the maximum number of tokens allowed 1048575.'),
      tooLong,
    ),
    sent(
      400,
      'caller',
      bad(
        'Unable to submit request because the input token count is 2000000 but model only supports up to 1048576.',
      ),
      tooLong,
    ),
    sent(
      400,
      'caller',
      bad(
        "The prompt could not be submitted. This prompt contains sensitive words that violate Google's Responsible AI practices.",
      ),
      { error_id: 'content_policy_violation' },
    ),
    sent(400, 'unclear', google(400, 'FAILED_PRECONDITION', 'Precondition check failed.')),
  ],
};
