import { CHAT_DIRECTIVES } from './shared/directives.ts';

/** What `--help` prints. */
export function helpText(): string {
  const directives = Object.entries(CHAT_DIRECTIVES)
    .map(([key, [example, meaning]]) => `  ${`${key}=${example}`.padEnd(22)}${meaning}`)
    .join('\n');
  return `Usage: bun simulator/main.ts [--port N] [--exit-with-parent]

Speaks the wire protocols of model providers on 127.0.0.1, with made-up answers.

  --port N              listen there; 0 or nothing: on a free port
  --exit-with-parent    end when stdin is closed, which is when the parent is gone
  --help                print this

  OpenAI                http://127.0.0.1:N/openai/v1       key: sim-ANYTHING
  Anthropic             http://127.0.0.1:N/anthropic       key: sim-ANYTHING
  books                 http://127.0.0.1:N/_sim/books      ?account= &since= &calls=0
  faults of an account  http://127.0.0.1:N/_sim/accounts/ANYTHING

Directives, in the last user text, as in [[sim tokens=20 chunk_ms=5]]:

${directives}
`;
}
