import { ANTHROPIC_ERRORS } from './anthropic.ts';
import { ANTHROPIC_CODES } from './anthropic-codes.ts';
import { ARK_ERRORS } from './ark.ts';
import { AZURE_ERRORS } from './azure.ts';
import { BEDROCK_ERRORS } from './bedrock.ts';
import { BEDROCK_TYPES } from './bedrock-types.ts';
import { COMPATIBLE_ERRORS } from './compatible.ts';
import { DASHSCOPE_ERRORS } from './dashscope.ts';
import { DIRECT_ERRORS } from './direct.ts';
import { FAL_ERRORS } from './fal.ts';
import { GOOGLE_ERRORS } from './google.ts';
import { GOOGLE_CAPACITY_ERRORS } from './google-capacity.ts';
import { GOOGLE_REQUEST_ERRORS } from './google-requests.ts';
import { HOST_ERRORS } from './hosts.ts';
import { MEDIA_ERRORS } from './media.ts';
import { MOONSHOT_ERRORS } from './moonshot.ts';
import { OPENAI_ERRORS } from './openai.ts';
import { OPENAI_REQUEST_ERRORS } from './openai-requests.ts';
import { OPENROUTER_ERRORS } from './openrouter.ts';
import type { VendorErrors } from './payload.ts';
import { RELAY_ERRORS } from './relay.ts';
import { SERVER_ERRORS } from './servers.ts';
import { VIDEO_ERRORS } from './video.ts';
import { XAI_ERRORS } from './xai.ts';
import { ZHIPU_ERRORS } from './zhipu.ts';

/** All error payloads that the tests know. */
export const VENDOR_ERRORS: readonly VendorErrors[] = [
  ...[OPENAI_ERRORS, OPENAI_REQUEST_ERRORS, AZURE_ERRORS],
  ...[ANTHROPIC_ERRORS, ANTHROPIC_CODES, BEDROCK_ERRORS, BEDROCK_TYPES],
  ...[GOOGLE_ERRORS, GOOGLE_CAPACITY_ERRORS, GOOGLE_REQUEST_ERRORS],
  ...[DASHSCOPE_ERRORS, ...ZHIPU_ERRORS, ...MOONSHOT_ERRORS, ...COMPATIBLE_ERRORS, XAI_ERRORS],
  ...[OPENROUTER_ERRORS, ...HOST_ERRORS, ...SERVER_ERRORS, ...DIRECT_ERRORS, RELAY_ERRORS],
  ...[FAL_ERRORS, ...MEDIA_ERRORS, ...VIDEO_ERRORS, ARK_ERRORS],
];
