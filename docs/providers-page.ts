import { CHAT_WITNESSES } from '../test/upstreams/chat/witnesses/table.ts';
import { WITNESSES } from '../test/upstreams/generation/witnesses.ts';

/** The text of `docs/providers.md`, from the tables that the tests of the providers' packages use. */
export function providersPage(): string {
  return `# Who proves the protocols of the providers

Weir's simulator and Weir's code could share one wrong belief about a provider. So the packages of other
people judge both:

- **simulator**: calls of a package that the simulator answers as the package expects.
- **types**: different requests of Weir that have the type which a package declares.
- **same**: requests of Weir that equal those of a package, for the same call.
- **requests**: requests that documentation or a stranger's code shows. The simulator takes each, unless it lacks the
  vendor's dialect. Weir forwards a chat request unchanged. For a generation it sends the same members and values, if
  it makes such calls.
- **answers**: answers that documentation, a stranger's code or its tests show. A scripted provider sends them to
  Weir. The client gets what the source means, and pays what the source reports.

No package that could call the simulator speaks for Kling, Ideogram, Stability AI, Midjourney and Suno. Each member of the
simulator's answers for them is in a documented answer. The last column names what nobody could prove.

Printed from [table.ts](../test/upstreams/chat/witnesses/table.ts) and
[witnesses.ts](../test/upstreams/generation/witnesses.ts) by \`bun run providers\`. The tests in these two folders
compare each number with what they check.

## Chat, embeddings, audio, rerank, translation

| provider | protocol | proved by | simulator | types | requests | answers | not proved |
|---|---|---|---|---|---|---|---|
${CHAT_WITNESSES.map(
  ({ provider, protocol, proved_by, payloads, unproved }) =>
    `| ${provider} | \`${protocol}\` | ${proved_by.join('<br>')} | ${payloads.simulator || '–'} | ${
      payloads.types || '–'
    } | ${payloads.requests || '–'} | ${payloads.answers || '–'} | ${listed(unproved)} |`,
).join('\n')}

## Images, videos, music

| provider | protocol | proved by | simulator | types | same | requests | answers | not proved |
|---|---|---|---|---|---|---|---|---|
${WITNESSES.map(
  ({ provider, protocol, proved_by, payloads, unproved }) =>
    `| ${provider} | \`${protocol}\` | ${listed(proved_by)} | ${payloads.simulator || '–'} | ${
      payloads.types || '–'
    } | ${payloads.same || '–'} | ${payloads.requests || '–'} | ${payloads.answers || '–'} | ${listed(unproved)} |`,
).join('\n')}
`;
}

const listed = (lines: readonly string[]) => (lines.length > 0 ? lines.join('<br>') : '–');
