import type { Fault } from '../../../../src/errors/fault.ts';
import { type ErrorPayload, sent, type VendorErrors } from './payload.ts';

const filtered = { error_id: 'content_policy_violation' } as const;
const COMMON = 'https://www.volcengine.com/docs/82379/1299023';
/** Failures of tasks that users saw. Their statuses are not shown. */
const TASKS = 'lyf-yulu/ai-generation-portable-apps tests/test_seedance_task_error_surfaced.py';
const ALL = 'https://www.volcengine.com/docs/82379/1099476';

const ark = (
  status: number,
  fault: Fault,
  code: string,
  message: string,
  more: Pick<ErrorPayload, 'source' | 'error_id'> = {},
): ErrorPayload => sent(status, fault, { error: { code, message, param: '', type: '' } }, more);

export const ARK_ERRORS: VendorErrors = {
  vendor: 'Volcengine Ark',
  payloads: [
    ark(
      401,
      'account',
      'AuthenticationError',
      'The API key or AK/SK in the request is missing or invalid. Request ID: 1',
      { source: COMMON },
    ),
    ark(
      403,
      'account',
      'AccountOverdueError',
      'The request failed because your account has an overdue balance. Request ID: 1',
      { source: COMMON },
    ),
    ark(
      403,
      'account',
      'AccessDenied',
      'The request failed because you do not have access to the requested resource. Request ID: 1',
      { source: COMMON },
    ),
    ark(
      429,
      'account',
      'SetLimitExceeded',
      'Your account [1] has reached the set inference limit for the [doubao-seed-1-6-flash] model, and the model service has been paused. To continue using this model, please visit the Model Activation page to adjust or close the "Safe Experience Mode"',
      { source: 'volcengine/MineContext#328' },
    ),
    ark(
      429,
      'account',
      'QuotaExceeded',
      'Your account has exhausted its free trial quota for the model.',
    ),
    ark(
      404,
      'broken',
      'ModelNotOpen',
      'Your account 1 has not activated the model doubao-pro-32k-functioncall-241028. Please activate the model service in the Ark Console.',
      { source: 'xinnan-tech/xiaozhi-esp32-server#1234' },
    ),
    ark(
      404,
      'broken',
      'InvalidEndpointOrModel.NotFound',
      'The model or endpoint doubao-seed-1.6 does not exist or you do not have access to it. Request id: 1',
      { source: 'coze-dev/coze-studio#232' },
    ),
    ark(
      404,
      'broken',
      'InvalidEndpoint.NotFound',
      'The request targeted an endpoint that does not exist or is invalid. Request id: 1',
      { source: 'w4n9H/autocoder-nano#3' },
    ),
    ark(
      400,
      'broken',
      'InvalidEndpoint.ClosedEndpoint',
      'The request targeted an endpoint that is currently closed or temporarily unavailable. Request ID: 1',
      { source: COMMON },
    ),
    ark(
      429,
      'throttle',
      'RateLimitExceeded.EndpointRPMExceeded',
      'The Requests Per Minute limit of the endpoint has been exceeded.',
    ),
    ark(
      429,
      'throttle',
      'ModelAccountTpmRateLimitExceeded',
      'The Tokens Per Minute limit has been exceeded.',
    ),
    ark(429, 'throttle', 'AccountRateLimitExceeded', 'The account has exceeded the rate limit.'),
    ark(
      429,
      'overload',
      'ServerOverloaded',
      'The service is currently unable to handle additional requests.',
    ),
    // The endpoint of the channel was of another kind than the request.
    ark(
      400,
      'unclear',
      'InvalidParameter',
      'One or more parameters specified in the request are not valid. Request id: 1',
      { source: 'volcengine/volcengine-python-sdk#13' },
    ),
    ark(
      400,
      'caller',
      'InvalidParameter',
      'The parameter `messages.content.type` specified in the request are not valid: invalid value: `document`, supported values are: `text`, `thinking`, `image`, `tool_use` and `tool_result`. Request id: 1',
      { source: 'farion1231/cc-switch#1519' },
    ),
    ark(
      400,
      'caller',
      'InvalidParameter',
      'The parameter instructions specified in the request are not valid: caching is not supported for instructions. Request id: 1',
      { source: ALL },
    ),
    ark(
      400,
      'caller',
      'InvalidParameter',
      'Timeout while downloading url=https://example.com/a.png Request id: 1',
      { source: 'jeffstric/ZJT#94' },
    ),
    ark(400, 'caller', 'InvalidParameter', 'Invalid decoding guidance syntax. Request id: 1', {
      source: 'musistudio/claude-code-router#1143',
    }),
    ark(
      400,
      'caller',
      'MissingParameter',
      'The request failed because it is missing one or multiple required parameters. Request ID: 1',
      { source: COMMON },
    ),
    ark(
      400,
      'caller',
      'InvalidParameter.UnsupportedParameter',
      'The parameter ratio is not supported.',
    ),
    ark(
      400,
      'caller',
      'InputTextRiskDetection',
      'The request could not be processed because the input text includes sensitive content that violates ContentSecurityDetection.ARKRequest ID:1;CSDRequestId:1;Label:1;SubLabel:1',
      { ...filtered, source: ALL },
    ),
    ark(
      400,
      'caller',
      'InputImageRiskDetection',
      'The request could not be processed because the input image includes sensitive content that violates ContentSecurityDetection.ARKRequest ID:1;CSDRequestId:1;Label:1;SubLabel:1',
      { ...filtered, source: ALL },
    ),
    ark(
      400,
      'caller',
      'InvalidParameter.TaskTypeConstraint',
      'The parameter `content[1].video_url` specified in the request is not valid. Seedance identified your task as video editing based on your prompt. For this task type, the output ratio and duration follow the input video selected by the model for editing, and the video selected must satisfy the duration requirement of 4 to 30 seconds. Issues: [0] `content[1].video_url` is 2.8 seconds.',
      { source: TASKS },
    ),
    ark(
      400,
      'caller',
      'InvalidParameter',
      'The parameter `content[2].image_url.url` specified in the request is not valid: the specified asset is not an image.',
      { source: TASKS },
    ),
    ark(
      400,
      'caller',
      'InvalidParameter',
      'The parameter `content[6]` specified in the request is not valid: the parameter video duration (seconds) specified in the request must be less than or equal to 15.2 for model doubao-seedance-2-0 in r2v.',
      { source: TASKS },
    ),
    ark(
      400,
      'caller',
      'InvalidParameter',
      'The parameter `content[1].image_url.url` specified in the request is not valid: The specified asset asset-20260807113001-86tdg is not found.',
      { source: TASKS },
    ),
    ark(
      400,
      'caller',
      'OutputVideoSensitiveContentDetected.PolicyViolation',
      'The request failed because the output video may be related to copyright restrictions.',
      { ...filtered, source: TASKS },
    ),
    ark(
      400,
      'caller',
      'InputImageSensitiveContentDetected.PolicyViolation',
      "The request failed because the input image 'content[4]' may be related to copyright restrictions.",
      { ...filtered, source: TASKS },
    ),
    ark(
      400,
      'caller',
      'OutputAudioSensitiveContentDetected',
      'The request failed because the output audio may contain sensitive information. Request id: 1',
      { ...filtered, source: 'Comfy-Org/ComfyUI#13883' },
    ),
    ...[
      'SensitiveContentDetected',
      'InputTextSensitiveContentDetected',
      'InputImageSensitiveContentDetected.PrivacyInformation',
      'OutputVideoSensitiveContentDetected',
    ].map((code) =>
      ark(400, 'caller', code, 'The content may contain sensitive information.', filtered),
    ),
    ark(
      500,
      'broken',
      'InternalServiceError',
      'The service encountered an unexpected internal error.',
    ),
    sent(401, 'account', {
      ResponseMetadata: { RequestId: 'r', Error: { Code: 'InvalidSignature', Message: 'wrong' } },
    }),
  ],
};
