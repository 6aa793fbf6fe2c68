import { sent, type VendorErrors } from './payload.ts';

const tooLong = { error_id: 'context_length_exceeded' } as const;
const AWS = 'http://internal.amazon.com/coral/com.amazon.bedrock/';
/** The header that names the error's type, and where the error stands. */
export const aws = (type: string, source?: string) => ({
  headers: { 'x-amzn-errortype': `${type}:${AWS}` },
  ...(source ? { source } : {}),
});
const code = (issue: number) => `anthropics/claude-code#${issue}`;
const validation = (source?: string) => aws('ValidationException', source);

export const BEDROCK_ERRORS: VendorErrors = {
  vendor: 'AWS Bedrock',
  payloads: [
    sent(
      403,
      'account',
      { message: 'The security token included in the request is invalid.' },
      aws('UnrecognizedClientException', code(2260)),
    ),
    sent(
      403,
      'account',
      { message: "You don't have access to the model with the specified model ID." },
      aws('AccessDeniedException', code(536)),
    ),
    sent(
      403,
      'account',
      {
        message:
          'Your account is not authorized to invoke this API operation. To troubeshoot this issue please refer to the following resources. https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html',
      },
      aws('AccessDeniedException', 'aws-samples/amazon-bedrock-workshop#100'),
    ),
    sent(
      403,
      'account',
      {
        message:
          'Model access is denied due to IAM user or service role is not authorized to perform the required AWS Marketplace actions (aws-marketplace:ViewSubscriptions, aws-marketplace:Subscribe) to enable access to this model. Refer to the Amazon Bedrock documentation for further details. Your AWS Marketplace subscription for this model cannot be completed at this time. If you recently fixed this issue, try again after 5 minutes.',
      },
      aws('AccessDeniedException', 'ministryofjustice/modernisation-platform-environments#18323'),
    ),
    sent(
      400,
      'account',
      {
        message:
          'Access to Anthropic models is not allowed from unsupported countries, regions, or territories. Please refer to https://www.anthropic.com/supported-countries for more information on the countries and regions Anthropic currently supports.',
      },
      validation('aws-samples/generative-bi-using-rag#361'),
    ),
    sent(
      403,
      'account',
      { message: 'User is not authorized to perform: bedrock:InvokeModel on resource' },
      aws('AccessDeniedException'),
    ),
    sent(
      403,
      'account',
      { message: 'The request signature we calculated does not match the signature you provided.' },
      aws('InvalidSignatureException'),
    ),
    sent(
      403,
      'account',
      { message: 'The security token included in the request is expired' },
      aws('ExpiredTokenException'),
    ),
    sent(403, 'account', {
      __type: 'com.amazon.coral.service#UnrecognizedClientException',
      message: 'The security token included in the request is invalid.',
    }),
    sent(400, 'account', { message: 'Operation not allowed' }, validation()),
    sent(
      429,
      'throttle',
      { message: 'Too many tokens, please wait before trying again.' },
      aws('ThrottlingException', 'aws-samples/amazon-bedrock-client-for-mac#99'),
    ),
    sent(
      429,
      'throttle',
      { message: 'Too many requests, please wait before trying again.' },
      aws('ThrottlingException', 'lobehub/lobehub#3994'),
    ),
    sent(
      429,
      'throttle',
      { message: 'Too many tokens per day, please wait before trying again.' },
      aws('ThrottlingException', 'minorun365/agent-book#29'),
    ),
    sent(
      503,
      'overload',
      { message: 'Bedrock is unable to process your request.' },
      aws('ServiceUnavailableException', 'darko-mesaros/bedrust#47'),
    ),
    sent(
      424,
      'broken',
      {
        message:
          'The system encountered an unexpected error during processing. Try your request again.',
      },
      aws('ModelErrorException', 'anthropics/anthropic-sdk-python#432'),
    ),
    sent(
      404,
      'broken',
      { message: 'Model not found.' },
      aws('ResourceNotFoundException', 'mlcommons/modelbench#1654'),
    ),
    sent(
      404,
      'broken',
      { message: 'Could not resolve the foundation model from the provided model identifier.' },
      aws('ResourceNotFoundException'),
    ),
    sent(
      404,
      'broken',
      {
        message:
          'This model version has reached the end of its life. Please refer to the AWS documentation for more details.',
      },
      aws(
        'ResourceNotFoundException',
        'aws-solutions-library-samples/accelerated-intelligent-document-processing-on-aws#708',
      ),
    ),
    sent(
      400,
      'broken',
      {
        message:
          'Invocation of model ID anthropic.claude-sonnet-4-20250514-v1:0 with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.',
      },
      validation(code(1466)),
    ),
    sent(
      400,
      'broken',
      { message: "The provided model doesn't support on-demand throughput." },
      validation('mlcommons/modelbench#1654'),
    ),
    sent(
      404,
      'broken',
      {
        message:
          'Access denied. This Model is marked by provider as Legacy and you have not been actively using the model in the last 15 days. Please upgrade to an active model on Amazon Bedrock',
      },
      aws('ResourceNotFoundException', 'awslabs/llmeter#35'),
    ),
    sent(
      400,
      'broken',
      {
        message:
          "1 validation error detected: Value 'anthropic.claude-v2:0:100k' at 'modelId' failed to satisfy constraint: Member must satisfy regular expression pattern: (arn:aws(-[^:]+)?:bedrock:[a-z0-9-]{1,20})",
      },
      validation('aws-samples/amazon-bedrock-client-for-mac#11'),
    ),
    sent(
      400,
      'broken',
      {
        message:
          "This action doesn't support the model that you provided. Try again with a supported text or chat model.",
      },
      validation('mlcommons/modelbench#1654'),
    ),
    sent(
      400,
      'broken',
      { message: 'The provided model identifier is invalid.' },
      validation('MattJColes/lgtmaybe#70'),
    ),
    sent(
      400,
      'caller',
      {
        message:
          'The maximum tokens you requested exceed the model limit of 4096. Try again with a maximum tokens value lower than 4096.',
      },
      validation('RooCodeInc/Roo-Code#248'),
    ),
    sent(
      400,
      'caller',
      { message: 'The maximum tokens you requested exceeds the model limit of 32768' },
      { source: 'charmbracelet/crush#946' },
    ),
    sent(
      400,
      'caller',
      {
        message:
          'The model returned the following errors: `temperature` and `top_p` cannot both be specified for this model. Please use only one.',
      },
      validation('aws-samples/sample-connector-for-bedrock#87'),
    ),
    sent(
      400,
      'caller',
      {
        message:
          'The model returned the following errors: reasoning: Extra inputs are not permitted',
      },
      validation('BerriAI/litellm#13609'),
    ),
    sent(
      400,
      'caller',
      {
        message:
          'Malformed input request: #: subject must not be valid against schema {"required":["messages"]}#: extraneous key [stream] is not permitted#: extraneous key [model] is not permitted, please reformat your input and try again.',
      },
      validation('fumito-ito/AnthropicSwiftSDK#19'),
    ),
    sent(
      400,
      'caller',
      {
        message:
          'Malformed input request: #/stopSequences: expected type: JSONArray, found: String, please reformat your input and try again.',
      },
      validation('langgenius/dify#3326'),
    ),
    sent(
      400,
      'caller',
      {
        message:
          'The model returned the following errors: Malformed input request: #/toolConfig/tools/1/toolSpec/inputSchema/json: extraneous key [definitions] is not permitted, please reformat your input and try again.',
      },
      validation('zed-industries/zed#31815'),
    ),
    sent(
      400,
      'caller',
      { message: 'Input is too long for requested model.' },
      { ...validation('aws-samples/assessment-generator#2'), ...tooLong },
    ),
    sent(
      400,
      'caller',
      {
        message: 'The model returned the following errors: Input is too long for requested model.',
      },
      { ...validation(), ...tooLong },
    ),
    sent(
      400,
      'caller',
      {
        message:
          '400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9000',
      },
      { ...validation(), ...tooLong },
    ),
    sent(
      400,
      'caller',
      {
        message:
          'Malformed input request: expected maxLength: 42000, actual: 46735, please reformat your input and try again.',
      },
      { ...validation('ryanadoty/Amazon-Bedrock-Amazon-RDS-POC#9'), ...tooLong },
    ),
    sent(
      400,
      'caller',
      { message: 'prompt is too long: 209000 tokens > 200000 maximum' },
      { ...validation(), ...tooLong },
    ),
  ],
};
