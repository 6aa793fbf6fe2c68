/** fast-check as all tests use it: a failed property also says why, in the message that reports keep. */
import fc from 'fast-check';

fc.configureGlobal({ includeErrorInReport: true });

export { fc };
