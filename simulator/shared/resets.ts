/**
 * A response that resets the connection before its first byte. Bun has no function for this, but a
 * body that fails before its first byte has this effect.
 */
export function connectionReset(): Response {
  return new Response(
    new ReadableStream({
      start(controller) {
        controller.error(undefined);
      },
    }),
  );
}
