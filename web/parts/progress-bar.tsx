interface ProgressBarProps {
  /** What is under way, for readers that cannot see the bar. */
  readonly label: string;
  /** Percent; null if nobody knows how far it is. */
  readonly percent: number | null;
}

/** How far something is. Without a percentage the bar only says that it is under way. */
export function ProgressBar({ label, percent }: ProgressBarProps) {
  return (
    <span className="flex min-w-24 items-center gap-2">
      <span
        role="progressbar"
        aria-label={label}
        {...(percent === null
          ? {}
          : { 'aria-valuenow': percent, 'aria-valuemin': 0, 'aria-valuemax': 100 })}
        className="h-1.5 flex-1 overflow-hidden rounded-full bg-sunk"
      >
        <span
          className={`block h-full rounded-full bg-accent transition-[width] ${percent === null ? 'w-1/3 animate-pulse' : ''}`}
          style={percent === null ? undefined : { width: `${percent}%` }}
        />
      </span>
      <span className="w-9 text-right text-sm figures text-soft">
        {percent === null ? '' : `${percent} %`}
      </span>
    </span>
  );
}
