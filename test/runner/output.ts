/** Returns the text of a stream; writes it to `output` as it comes. */
export async function readAll(
  stream: ReadableStream<Uint8Array>,
  output: NodeJS.WritableStream | undefined,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream) {
    output?.write(chunk);
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}
