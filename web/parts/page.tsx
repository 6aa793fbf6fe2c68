import { type ReactNode, useEffect } from 'react';

interface PageProps {
  readonly title: string;
  /** The question that the page answers, or its answer in one line. */
  readonly question?: ReactNode;
  /** The acts of the page, at its right. */
  readonly acts?: ReactNode;
  /** The page's API call. */
  readonly call?: ReactNode;
  readonly children: ReactNode;
}

/** A page: its title, its question, its acts, and at its end its API call. */
export function Page({ title, question, acts, call, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Weir`;
  }, [title]);
  return (
    <div className="mx-auto grid w-full grid-cols-[minmax(0,1fr)] max-w-6xl gap-6 px-4 py-6 sm:px-8">
      <header className="flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
        <div className="min-w-0">
          <h1 className="text-2xl font-semibold tracking-tight">{title}</h1>
          {question === undefined ? null : <p className="text-soft">{question}</p>}
        </div>
        {acts === undefined ? null : <div className="flex flex-wrap gap-2">{acts}</div>}
      </header>
      {children}
      {call}
    </div>
  );
}

/** A part of a page with its own heading. */
export function Section({
  title,
  acts,
  children,
}: {
  title: string;
  acts?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="grid min-w-0 grid-cols-[minmax(0,1fr)] content-start gap-3">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h2 className="text-lg font-semibold">{title}</h2>
        {acts}
      </div>
      {children}
    </section>
  );
}

/** A surface for figures or a form. */
export function Card({ children, className = '' }: { children: ReactNode; className?: string }) {
  return (
    <div className={`min-w-0 rounded-box border border-line bg-card p-4 ${className}`}>
      {children}
    </div>
  );
}
