import { createContext, use } from 'react';
import type { Here } from '../api/session.ts';

export const HereContext = createContext<Here | undefined>(undefined);

/** The session and the organization that the pages show. */
export function useHere(): Here {
  const here = use(HereContext);
  if (!here) throw new Error('this part is outside of the frame');
  return here;
}
