import { type ErrorPayload, sent, type VendorErrors } from './payload.ts';

const filtered = { error_id: 'content_policy_violation' } as const;
/** A copy of fal's page of model errors. */
const DOCS = 'henjicc/Henji-AI docs/api/fal/base/errors.md';
const RUNNERS = 'https://docs.fal.ai/documentation/model-apis/request-errors';

const detail = (type: string, msg: string, ...loc: string[]): object => ({
  detail: [{ loc: ['body', ...loc], msg, type, url: `https://docs.fal.ai/errors/#${type}` }],
});
/** An error about one input. */
const input = (type: string, msg: string, field: string, source = DOCS): ErrorPayload =>
  sent(422, 'caller', detail(type, msg, field), { source });
/** An error of fal's machines. */
const runner = (status: number, error_type: string, text: string): ErrorPayload =>
  sent(
    status,
    'broken',
    { detail: text, error_type },
    { headers: { 'x-fal-error-type': error_type }, source: RUNNERS },
  );

export const FAL_ERRORS: VendorErrors = {
  vendor: 'fal',
  payloads: [
    sent(
      401,
      'account',
      { detail: 'No user found for Key ID and Secret' },
      { source: 'fal-ai/fal#1068' },
    ),
    sent(401, 'account', {
      detail:
        'Cannot access application "fal-ai/flux". Authentication is required to access this application.',
    }),
    sent(
      403,
      'account',
      {
        detail:
          'User is locked. Reason: Exhausted balance. Top up your balance at fal.ai/dashboard/billing',
      },
      { source: 'fal-ai/fal#1147' },
    ),
    sent(
      403,
      'account',
      { detail: 'User is locked. Reason: TOP_UP.' },
      { source: 'fal-ai/fal#1163' },
    ),
    sent(
      403,
      'account',
      { detail: 'User is locked. Reason: Admin lock. Please contact support@fal.ai' },
      { source: 'fal-ai/fal#1168' },
    ),
    sent(404, 'broken', { detail: "Application 'nope' not found" }),
    sent(404, 'broken', { detail: 'Path /other not found' }, { source: 'fal-ai/fal#100' }),
    sent(
      422,
      'caller',
      detail(
        'content_policy_violation',
        'The content could not be processed because it contained material flagged by a content checker.',
        'prompt',
      ),
      { ...filtered, source: 'openstory-so/openstory#1373' },
    ),
    sent(
      422,
      'caller',
      detail(
        'content_policy_violation',
        'The content was flagged by a content checker.',
        'image_url',
      ),
      {
        ...filtered,
        source: 'https://wavespeed.ai/blog/ai-guides/fal-ai-content-policy-violation-422-fix/',
      },
    ),
    input('image_too_small', 'Image too small', 'image_url'),
    input('image_too_large', 'Image too large', 'input_image'),
    input('image_load_error', 'Image load error', 'control_image'),
    input('file_download_error', 'File download error', 'video_url'),
    input('face_detection_error', 'Could not detect face in the image', 'face_image'),
    input('file_too_large', 'File too large', 'upload_file'),
    input('greater_than', 'Input should be greater than 0', 'num_inference_steps'),
    input('greater_than_equal', 'Input should be greater than or equal to 0', 'strength'),
    input('less_than', 'Input should be less than 1', 'negative_prompt_weight'),
    input('less_than_equal', 'Input should be less than or equal to 20', 'guidance_scale'),
    input('multiple_of', 'Input should be a multiple of 8', 'width'),
    input('sequence_too_short', 'Sequence should have at least 1 items', 'prompts'),
    input('sequence_too_long', 'Sequence should have at most 4 items', 'controlnet_images'),
    input('one_of', "Input should be 'EulerA' or 'DPM++'", 'scheduler'),
    input('feature_not_supported', 'Feature not supported', 'advanced_feature'),
    input(
      'invalid_archive',
      "Could not read or process the provided archive. Ensure it's a valid, non-corrupted archive.",
      'training_data',
    ),
    input(
      'value_error',
      'Input must be a valid HTTPS URL or a Data URI',
      'image_url',
      'vincetheeleventh/pawpop-website docs/backend/fixes/FAL_AI_VALIDATION_FIX.md',
    ),
    sent(422, 'caller', detail('missing', 'Field required', 'prompt')),
    sent(422, 'caller', detail('literal_error', "Input should be '5' or '10'", 'duration')),
    sent(422, 'caller', detail('video_duration_too_long', 'The video is too long.', 'video_url')),
    sent(504, 'broken', detail('generation_timeout', 'Generation timeout'), { source: DOCS }),
    sent(500, 'broken', detail('internal_server_error', 'Internal server error'), {
      source: DOCS,
    }),
    sent(400, 'broken', detail('downstream_service_error', 'Downstream service error'), {
      source: DOCS,
    }),
    sent(
      500,
      'broken',
      detail('downstream_service_unavailable', 'Downstream service unavailable'),
      {
        source: DOCS,
      },
    ),
    runner(504, 'request_timeout', 'Request timed out'),
    runner(503, 'runner_disconnected', 'The runner disconnected unexpectedly during processing.'),
    runner(503, 'runner_scheduling_failure', 'No runner could be allocated to handle the request.'),
    sent(429, 'throttle', { detail: 'You have reached your concurrent requests limit.' }),
  ],
};
