import type { AnswerUsage, TokenUsage, UsageReport } from '../../protocols/token-usage.ts';
import type { UpstreamAnswer, UpstreamCall } from '../contract.ts';

/**
 * If an upstream reports more than 10 times the model's `max_output_tokens`, the report is
 * impossible. The factor allows for a provider that raised the limit after the catalogue was
 * written. The output limit of the request is not used, because an upstream may ignore it.
 */
const MOST_OUTPUT_PER_ANSWER = 10;
/**
 * If the provider runs tools, the model reads its context several times for one answer. A report of
 * more than 10 times the context window is impossible.
 */
const MOST_INPUT_PER_WINDOW = 10;

/**
 * Returns the members of a whole answer that tell its usage. `write` puts a usage into the public
 * body. It is needed only if the report is impossible: then Weir's estimate replaces the report.
 */
export function wholeUsage(
  report: UsageReport,
  call: UpstreamCall,
  write: (usage: TokenUsage) => string,
): Pick<UpstreamAnswer, 'usage' | 'withUsage' | 'has_impossible_usage'> {
  const checked = checkedUsage(report, call);
  if (checked !== 'impossible') return { usage: checked };
  return { usage: null, withUsage: write, has_impossible_usage: true };
}

/** Returns the report, or `impossible` if the call cannot cause so many tokens. */
export function checkedUsage(report: UsageReport, call: UpstreamCall): UsageReport {
  if (report === null || report === 'impossible') return report;
  const most = call.model_max_output_tokens * MOST_OUTPUT_PER_ANSWER;
  const isPossible =
    (report.output_tokens <= most || report.output_tokens <= most * call.mostAnswers()) &&
    inputTokens(report) <= call.model_context_window * MOST_INPUT_PER_WINDOW;
  return isPossible ? report : 'impossible';
}

function inputTokens(usage: AnswerUsage): number {
  return usage.input_tokens + usage.cached_input_tokens + usage.cache_write_tokens;
}
