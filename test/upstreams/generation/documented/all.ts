import type { DocumentedAnswer } from './answer.ts';
import { HOSTED_ANSWERS } from './hosted.ts';
import { OFFICIAL_ANSWERS } from './official.ts';
import { UNOFFICIAL_ANSWERS } from './unofficial.ts';

/** The documented answers of all providers of generations. */
export const DOCUMENTED_ANSWERS: readonly DocumentedAnswer[] = [
  ...OFFICIAL_ANSWERS,
  ...HOSTED_ANSWERS,
  ...UNOFFICIAL_ANSWERS,
];
