import { useSession } from '../api/session.ts';
import { Frame } from './frame.tsx';

/** The frame, once the session is known. The route has read it. */
export function SignedInFrame() {
  const session = useSession();
  return session ? <Frame session={session} /> : null;
}
