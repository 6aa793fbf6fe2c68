import type { ErrorRule } from './rule.ts';
import { ANTHROPIC_RULES } from './rules/anthropic.ts';
import { CHINESE_RULES } from './rules/chinese.ts';
import { CLOUD_RULES } from './rules/clouds.ts';
import { COMPATIBLE_RULES } from './rules/compatible.ts';
import { DIRECT_RULES } from './rules/direct.ts';
import { HOST_RULES } from './rules/hosts.ts';
import { MEDIA_RULES } from './rules/media.ts';
import { OPENAI_RULES } from './rules/openai.ts';

/** What the errors of all providers mean. `docs/upstream-errors.md` is printed from this table. */
export const ERROR_RULES: readonly ErrorRule[] = [
  ...OPENAI_RULES,
  ...ANTHROPIC_RULES,
  ...CLOUD_RULES,
  ...CHINESE_RULES,
  ...COMPATIBLE_RULES,
  ...HOST_RULES,
  ...DIRECT_RULES,
  ...MEDIA_RULES,
];
