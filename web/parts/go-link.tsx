import { useRouter } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';
import { type Query, urlOf } from '../api/url.ts';

interface GoLinkProps {
  /** A page, e.g. `/usage/requests`. */
  readonly to: string;
  /** What the address of the page has, e.g. its filters. */
  readonly query?: Query;
  readonly children: ReactNode;
  readonly className?: string;
}

/** A link to a page of another area with its filters: a count or a sum leads to exactly what it counts. */
export function GoLink({ to, query, children, className = '' }: GoLinkProps) {
  const router = useRouter();
  const { org } = router.state.location.search as { org?: string };
  const href = urlOf(to, { ...query, org });
  const go = (event: MouseEvent) => {
    const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey);
    if (!isPlain) return;
    event.preventDefault();
    router.history.push(href);
  };
  return (
    <a href={href} onClick={go} className={`text-accent hover:underline ${className}`}>
      {children}
    </a>
  );
}
