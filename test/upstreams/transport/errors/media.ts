import { sent, type VendorErrors } from './payload.ts';

const filtered = { error_id: 'content_policy_violation' } as const;
const _kling = (code: number, message: string) => ({ code, message, request_id: 'r' });
const _ON_KLING = { protocol: 'kling' } as const;
const _ark = (code: string, message: string) => ({ error: { code, message, param: '', type: '' } });
const detail = (type: string, msg: string, ...loc: string[]) => ({
  detail: [{ loc: ['body', ...loc], msg, type }],
});
const stability = (name: string, ...errors: string[]) => ({ id: 'a1', name, errors });
const _minimax = (status_code: number, status_msg: string) => ({
  base_resp: { status_code, status_msg },
});

export const MEDIA_ERRORS: readonly VendorErrors[] = [
  {
    vendor: 'fal',
    source: 'docs.fal.ai: Model API errors; Queue errors; @fal-ai/client@1.10.1',
    payloads: [
      sent(401, 'account', { detail: 'No user found for Key ID and Secret' }),
      sent(401, 'account', {
        detail:
          'Cannot access application "fal-ai/flux". Authentication is required to access this application.',
      }),
      sent(403, 'account', {
        detail:
          'User is locked. Reason: Exhausted balance. Top up your balance at fal.ai/dashboard/billing.',
      }),
      sent(404, 'broken', { detail: "Application 'nope' not found" }),
      sent(404, 'broken', { detail: 'Path /text-to-3d not found' }),
      sent(
        422,
        'caller',
        detail(
          'content_policy_violation',
          'The content could not be processed because it was flagged by a content checker.',
          'prompt',
        ),
        filtered,
      ),
      sent(422, 'caller', detail('image_too_small', 'The image is too small.', 'image_url')),
      sent(422, 'caller', detail('image_too_large', 'The image is too large.', 'image_url')),
      sent(
        422,
        'caller',
        detail('file_download_error', 'The file could not be downloaded.', 'image_url'),
      ),
      sent(
        422,
        'caller',
        detail('image_load_error', 'The image could not be loaded.', 'image_url'),
      ),
      sent(
        422,
        'caller',
        detail('face_detection_error', 'No face could be detected.', 'image_url'),
      ),
      sent(422, 'caller', detail('missing', 'Field required', 'prompt')),
      sent(
        422,
        'caller',
        detail('less_than_equal', 'Input should be less than or equal to 20', 'cfg_scale'),
      ),
      sent(422, 'caller', detail('literal_error', "Input should be '5' or '10'", 'duration')),
      sent(422, 'caller', detail('video_duration_too_long', 'The video is too long.', 'video_url')),
      sent(504, 'broken', detail('generation_timeout', 'The generation timed out.')),
      sent(500, 'broken', detail('internal_server_error', 'Internal server error')),
      sent(400, 'broken', detail('downstream_service_error', 'Downstream service error')),
      sent(
        503,
        'broken',
        { detail: 'Runner disconnected', error_type: 'runner_disconnected' },
        { headers: { 'x-fal-error-type': 'runner_disconnected' } },
      ),
      sent(429, 'throttle', { detail: 'You have reached your concurrent requests limit.' }),
    ],
  },
  {
    vendor: 'Replicate',
    source: 'replicate.com/docs: HTTP API; replicate/replicate-javascript issues',
    payloads: [
      sent(401, 'account', {
        title: 'Unauthenticated',
        detail: 'You did not pass a valid authentication token',
        status: 401,
      }),
      sent(402, 'account', {
        title: 'Insufficient credit',
        detail: 'You have insufficient credit to run this model.',
        status: 402,
      }),
      sent(402, 'account', {
        title: 'Free time limit reached',
        detail: 'You have reached the free time limit.',
        status: 402,
      }),
      sent(
        429,
        'throttle',
        {
          detail: 'Request was throttled. Your rate limit resets in ~30s.',
          status: 429,
          retry_after: 30,
        },
        { wait_ms: 30_000 },
      ),
      sent(422, 'caller', {
        title: 'Input validation failed',
        detail: '- input: prompt is required\n',
        status: 422,
        invalid_fields: [{ type: 'required', field: 'input', description: 'prompt is required' }],
      }),
      sent(422, 'caller', {
        title: 'Input validation failed',
        detail: '- input.width: Must be less than or equal to 1440\n',
        status: 422,
      }),
      sent(422, 'broken', {
        title: 'Invalid version or not permitted',
        detail: 'The specified version does not exist (or perhaps you lack permission to use it?)',
        status: 422,
      }),
      sent(404, 'broken', {
        title: 'Not found',
        detail: 'The requested resource could not be found.',
        status: 404,
      }),
      sent(500, 'broken', { detail: 'Internal server error' }),
    ],
  },
  {
    vendor: 'Runway',
    source: 'docs.dev.runwayml.com: API errors; @runwayml/sdk@4.20.1 core/error.ts',
    payloads: [
      sent(401, 'account', { error: 'Invalid API Key' }),
      sent(400, 'account', { error: 'You do not have enough credits to run this task.' }),
      sent(400, 'caller', {
        error: 'Validation of body failed',
        issues: [{ code: 'invalid_type', path: ['ratio'], message: 'Required' }],
      }),
      sent(400, 'caller', { error: 'Invalid asset dimensions' }),
      sent(429, 'throttle', { error: 'You have reached the daily task limit for this model.' }),
      sent(502, 'broken', { error: 'Bad gateway' }),
      sent(503, 'overload', { error: 'The service is at capacity' }),
    ],
  },
  {
    vendor: 'Stability AI',
    source: 'platform.stability.ai: REST API v2beta, responses',
    payloads: [
      sent(
        403,
        'caller',
        stability(
          'content_moderation',
          'Your request was flagged by our content moderation system.',
        ),
        filtered,
      ),
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
    source: 'docs.bfl.ai: Errors; developer.ideogram.ai: API reference',
    payloads: [
      sent(402, 'account', { detail: 'Insufficient credits. Please add credits.' }),
      sent(403, 'account', { detail: 'Not authenticated' }),
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
        {
          error: 'Prompt provided failed safety check due to the inclusion of prohibited content.',
        },
        filtered,
      ),
      sent(400, 'caller', { error: 'Invalid input provided.' }),
      sent(429, 'throttle', { error: 'Too many requests in flight' }),
    ],
  },
];
