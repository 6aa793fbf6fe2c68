/** The sign of Weir: water that steps down over a weir. */
export function Wordmark({ large = false }: { large?: boolean }) {
  return (
    <span
      className={`inline-flex items-center gap-2 font-semibold ${large ? 'text-2xl' : 'text-lg'}`}
    >
      <svg viewBox="0 0 24 20" aria-hidden="true" className={large ? 'h-7' : 'h-5'}>
        <g
          fill="none"
          stroke="currentColor"
          strokeWidth="2.200"
          strokeLinecap="round"
          className="text-accent"
        >
          <path d="M1 4h7.500c2.600 0 3.500 1.600 3.500 4v2.500c0 2.600 1 4.500 3.500 4.500H23" />
          <path d="M1 9.500h4.500c2 0 2.500 1 2.500 3v.5c0 3 1.500 5.500 4 5.500" opacity=".6" />
        </g>
      </svg>
      <span className="tracking-tight">Weir</span>
    </span>
  );
}
