import { CHAT_DIRECTIVES } from './shared/directives.ts';
import { TASK_DIRECTIVES } from './shared/work-directives.ts';

/** The text of `--help`. */
export function helpText(): string {
  return `Usage: bun simulator/main.ts [--port N] [--exit-with-parent]

Simulates the protocols of model providers on 127.0.0.1, with random answers.

  --port N              port to listen on; default: a free port
  --exit-with-parent    end when stdin closes, i.e. when the parent process ends
  --help                show this text

  OpenAI                http://127.0.0.1:N/openai/v1       key: sim-ANYTHING
  Anthropic             http://127.0.0.1:N/anthropic       key: sim-ANYTHING
  and /azure, /google/v1beta, /xai/v1, /stability, /ideogram, /bfl/v1, /kling, /runway, /ark/api/v3,
  /midjourney/mj, /suno, /fal, /replicate/v1, /cohere, /deepl, /bedrock, /vertex: see simulator/README.md
  books                 http://127.0.0.1:N/_sim/books      ?account= &since= &calls=0; DELETE ?take=1
  faults of an account  http://127.0.0.1:N/_sim/accounts/ANYTHING

Directives, in the last user text, as in [[sim tokens=20 chunk_ms=5]]:

${list(CHAT_DIRECTIVES)}

For jobs of images, videos and music:

${list(TASK_DIRECTIVES)}
`;
}

function list(directives: Record<string, readonly [example: string, meaning: string]>): string {
  return Object.entries(directives)
    .map(([key, [example, meaning]]) => `  ${`${key}=${example}`.padEnd(22)}${meaning}`)
    .join('\n');
}
