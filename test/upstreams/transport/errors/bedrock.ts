import { sent, type VendorErrors } from './payload.ts';

const tooLong = { error_id: 'context_length_exceeded' } as const;
const AWS = 'http://internal.amazon.com/coral/com.amazon.bedrock/';
const aws = (type: string) => ({ headers: { 'x-amzn-errortype': `${type}:${AWS}` } });

export const BEDROCK_ERRORS: VendorErrors = {
  vendor: 'AWS Bedrock',
  source:
    'AWS docs: Bedrock Runtime API, InvokeModel errors; Troubleshooting Bedrock API error codes',
  payloads: [
    sent(
      403,
      'account',
      { message: 'The security token included in the request is invalid.' },
      aws('UnrecognizedClientException'),
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
      { message: "You don't have access to the model with the specified model ID." },
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
    sent(
      400,
      'account',
      { message: 'Operation not allowed' },
      { ...aws('ValidationException'), source: 'aws/bedrock issues on re:Post' },
    ),
    sent(
      400,
      'throttle',
      { message: 'Your request exceeds the service quota for your account.' },
      aws('ServiceQuotaExceededException'),
    ),
    sent(
      429,
      'throttle',
      { message: 'Too many requests, please wait before trying again.' },
      aws('ThrottlingException'),
    ),
    sent(
      429,
      'throttle',
      { message: 'Too many tokens per day, please wait before trying again.' },
      aws('ThrottlingException'),
    ),
    sent(
      429,
      'overload',
      { message: 'Model is not ready for inference. Please retry later.' },
      aws('ModelNotReadyException'),
    ),
    sent(
      503,
      'overload',
      { message: 'Bedrock is unable to process your request.' },
      aws('ServiceUnavailableException'),
    ),
    sent(
      424,
      'broken',
      {
        message: 'The system encountered an unexpected error during processing.',
        originalStatusCode: 500,
      },
      aws('ModelErrorException'),
    ),
    sent(
      424,
      'broken',
      { message: 'An error occurred while streaming the response.' },
      aws('ModelStreamErrorException'),
    ),
    sent(
      408,
      'broken',
      { message: 'Model has timed out in processing the request.' },
      aws('ModelTimeoutException'),
    ),
    sent(
      500,
      'broken',
      { message: 'The system encountered an unexpected error during processing.' },
      aws('InternalServerException'),
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
      { message: 'This model version has reached the end of its life.' },
      aws('ResourceNotFoundException'),
    ),
    sent(
      400,
      'broken',
      {
        message:
          'Invocation of model ID anthropic.claude-sonnet-4-20250514-v1:0 with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.',
      },
      { ...aws('ValidationException'), source: 'Laisky/one-api#77' },
    ),
    sent(
      400,
      'broken',
      { message: 'The provided model identifier is invalid.' },
      aws('ValidationException'),
    ),
    sent(
      400,
      'caller',
      { message: 'messages.0.role: Input should be user' },
      aws('ValidationException'),
    ),
    sent(
      400,
      'caller',
      {
        message:
          'Malformed input request: #: required key [messages] not found, please reformat your input and try again.',
      },
      aws('ValidationException'),
    ),
    sent(
      400,
      'caller',
      { message: 'Input is too long for requested model.' },
      { ...aws('ValidationException'), ...tooLong },
    ),
    sent(
      400,
      'caller',
      {
        message: 'The model returned the following errors: Input is too long for requested model.',
      },
      { ...aws('ValidationException'), ...tooLong, source: 'aws/amazon-q-developer-cli issues' },
    ),
    sent(
      400,
      'caller',
      {
        message:
          '400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9000',
      },
      { ...aws('ValidationException'), ...tooLong, source: 'langchain-ai/langchain-aws issues' },
    ),
    sent(
      400,
      'caller',
      {
        message:
          'Malformed input request: expected maxLength: 50000, actual: 60000, please reformat your input and try again.',
      },
      { ...aws('ValidationException'), ...tooLong, source: 'langchain-ai/langchain-aws issues' },
    ),
    sent(
      400,
      'caller',
      { message: 'prompt is too long: 209000 tokens > 200000 maximum' },
      { ...aws('ValidationException'), ...tooLong },
    ),
  ],
};
