import { useRef } from 'react';

/**
 * Returns the headers with which a body is applied once, however often it is sent, e.g. after a connection
 * that broke. Another body is another request.
 */
export function useOnce(): (body: unknown) => Record<string, string> {
  const last = useRef({ text: '', id: '' });
  return (body) => {
    const text = JSON.stringify(body);
    if (last.current.text !== text) last.current = { text, id: randomId() };
    return { 'idempotency-key': last.current.id };
  };
}

/** A random id. `crypto.randomUUID` needs HTTPS, and Weir may be opened over HTTP in a private network. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
