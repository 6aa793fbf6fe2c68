import type { Fault } from '../../../../src/errors/fault.ts';
import { aws } from './bedrock.ts';
import { sent, type VendorErrors } from './payload.ts';

const SDK = '@aws-sdk/client-bedrock-runtime@3.1164.0 dist-es/schemas/schemas_0.js';
/** An error as the vendor's SDK declares it: its type and its status. */
const declared = (status: number, fault: Fault, type: string) =>
  sent(status, fault, { message: 'Refused.' }, aws(type, SDK));

/** Every type of error that the vendor's SDK declares. */
export const BEDROCK_TYPES: VendorErrors = {
  vendor: 'AWS Bedrock',
  payloads: [
    declared(403, 'account', 'AccessDeniedException'),
    declared(400, 'caller', 'ConflictException'),
    declared(500, 'broken', 'InternalServerException'),
    declared(424, 'broken', 'ModelErrorException'),
    declared(429, 'overload', 'ModelNotReadyException'),
    declared(424, 'broken', 'ModelStreamErrorException'),
    declared(408, 'broken', 'ModelTimeoutException'),
    declared(404, 'broken', 'ResourceNotFoundException'),
    declared(400, 'throttle', 'ServiceQuotaExceededException'),
    declared(503, 'overload', 'ServiceUnavailableException'),
    declared(429, 'throttle', 'ThrottlingException'),
    declared(400, 'caller', 'ValidationException'),
  ],
};
