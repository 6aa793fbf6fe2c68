import { sent, type VendorErrors } from './payload.ts';

const filtered = { error_id: 'content_policy_violation' } as const;
const RUNWAY_DOCS = 'https://docs.dev.runwayml.com/errors/errors';
const problem = (status: number, title: string, detail: string): object => ({
  ...{ title, detail, status },
});
const stability = (name: string, ...errors: string[]): object => ({ id: 'a1', name, errors });

/** Errors of providers of images and videos. */
export const MEDIA_ERRORS: readonly VendorErrors[] = [
  {
    vendor: 'Replicate',
    payloads: [
      sent(
        401,
        'account',
        problem(401, 'Unauthenticated', 'You did not pass an authentication token'),
        { source: 'replicate/replicate-python#47' },
      ),
      sent(
        402,
        'account',
        problem(
          402,
          'Billing required',
          'You need to set up billing to run this model. Go to https://replicate.com/account/billing#billing to set it up. If you have recently set up billing, please wait a few minutes before trying again.',
        ),
        { source: 'replicate/replicate-javascript#342' },
      ),
      sent(
        402,
        'account',
        problem(402, 'Insufficient credit', 'You have insufficient credit to run this model.'),
      ),
      sent(
        402,
        'account',
        problem(402, 'Free time limit reached', 'You have reached the free time limit.'),
      ),
      sent(
        429,
        'throttle',
        {
          detail:
            'Request was throttled. Your rate limit for creating predictions is reduced to 6 requests per minute with a burst of 1 requests while you have less than $5.0 in credit. Your rate limit resets in ~5s.',
          status: 429,
          retry_after: 5,
        },
        { wait_ms: 5_000, source: 'nodetool-ai/nodetool#5196' },
      ),
      sent(422, 'caller', {
        title: 'Input validation failed',
        detail: '- input: prompt is required\n',
        status: 422,
        invalid_fields: [{ type: 'required', field: 'input', description: 'prompt is required' }],
      }),
      sent(
        422,
        'caller',
        {
          detail:
            '- input.scheduler: scheduler must be one of the following: "EulerA", "MultistepDPM-Solver"\n- input.seed: Invalid type. Expected: integer, given: null\n',
          status: 422,
          title: 'Input validation failed',
          invalid_fields: [
            {
              type: 'enum',
              field: 'input.scheduler',
              description:
                'scheduler must be one of the following: "EulerA", "MultistepDPM-Solver"',
            },
            {
              type: 'invalid_type',
              field: 'input.seed',
              description: 'Invalid type. Expected: integer, given: null',
            },
          ],
        },
        { source: 'Lazyjimpressions/ourvidz RV51_GENERATION_FAILURE_ANALYSIS.md' },
      ),
      sent(
        422,
        'caller',
        problem(
          422,
          'Input validation failed',
          '- input.width: Must be less than or equal to 1440\n',
        ),
      ),
      sent(
        422,
        'broken',
        problem(
          422,
          'Invalid version or not permitted',
          "The specified version does not exist (or perhaps you don't have permission to use it?)",
        ),
        { source: 'replicate/replicate-javascript#307' },
      ),
      sent(404, 'broken', problem(404, 'Not found', 'The requested resource could not be found.')),
      sent(500, 'broken', { detail: 'Internal server error' }),
    ],
  },
  {
    vendor: 'Runway',
    payloads: [
      sent(401, 'account', { error: 'Invalid API Key' }, { source: RUNWAY_DOCS }),
      sent(
        403,
        'broken',
        { error: 'Model variant gen3a_turbo is not available' },
        { source: 'mhusse29/Marketing-Engine RUNWAY_TEST_RESULTS.md' },
      ),
      sent(
        400,
        'account',
        { error: 'You do not have enough credits to run this task.' },
        { source: 'runwayml/sdk-node#28' },
      ),
      sent(400, 'caller', {
        error: 'Validation of body failed',
        issues: [{ code: 'invalid_type', path: ['ratio'], message: 'Required' }],
      }),
      sent(400, 'caller', { error: 'Invalid asset dimensions' }),
      sent(
        429,
        'throttle',
        { error: 'Your daily task limit has been reached.' },
        { source: 'runwayml/sdk-python#23' },
      ),
      sent(502, 'broken', { error: 'Bad gateway' }, { source: RUNWAY_DOCS }),
      sent(503, 'overload', { error: 'The service is at capacity' }, { source: RUNWAY_DOCS }),
    ],
  },
  {
    vendor: 'Stability AI',
    payloads: [
      sent(
        403,
        'caller',
        stability(
          'content_moderation',
          'Your request was flagged by our content moderation system, as a result your request was denied and you were not charged.',
        ),
        { ...filtered, source: 'ZHO-ZHO-ZHO/ComfyUI-StableDiffusion3-API#2' },
      ),
      // The header is not the client's.
      sent(400, 'unclear', stability('bad_request', 'content-type: must be multipart/form-data'), {
        source: 'jezs00/pycasso#86',
      }),
      sent(
        401,
        'account',
        stability('unauthorized', 'authorization: invalid or missing header value'),
      ),
      sent(
        402,
        'account',
        stability('payment_required', 'You lack sufficient credits to make this request.'),
      ),
      sent(400, 'caller', stability('bad_request', 'prompt: must not be empty')),
      sent(413, 'caller', stability('invalid_request', 'image: must be less than 10MiB'), {
        error_id: 'payload_too_large',
      }),
      sent(
        422,
        'unclear',
        stability('invalid_language', 'English is the only supported language for this service.'),
      ),
      sent(
        429,
        'throttle',
        stability(
          'rate_limit_exceeded',
          'You have exceeded the rate limit of 150 requests within a 10 second period',
        ),
      ),
      sent(500, 'broken', stability('internal_error', 'An unexpected server error has occurred')),
    ],
  },
  {
    vendor: 'Black Forest Labs and Ideogram',
    payloads: [
      sent(402, 'account', { detail: 'Insufficient credits. Please add credits.' }),
      sent(
        403,
        'account',
        { detail: 'Not authenticated - Invalid Authentication' },
        { source: 'gelasdev/ComfyUI-FLUX-BFL-API#16' },
      ),
      sent(429, 'throttle', { detail: 'You have too many active tasks.' }),
      sent(422, 'caller', {
        detail: [
          { loc: ['body', 'width'], msg: 'Input should be a multiple of 32', type: 'multiple_of' },
        ],
      }),
      sent(401, 'account', { title: 'Not authorized' }),
      sent(
        422,
        'caller',
        { error: 'Prompt or provided image failed the safety checks' },
        {
          ...filtered,
          source:
            'https://skills.sh/jeremylongshore/claude-code-plugins-plus-skills/ideogram-common-errors',
        },
      ),
      sent(400, 'caller', { error: 'Invalid input provided.' }),
      sent(429, 'throttle', { error: 'Too many requests in flight' }),
    ],
  },
];
