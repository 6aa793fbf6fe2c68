/** The look of a chart. Colours are variables, so that a page can give its own ones. */
export const CHART_STYLE = `
.chart text{font-family:"Geist Mono Variable",ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace;font-size:11px;fill:var(--chart-ink)}
.chart .chart-title{font-size:13px;font-weight:600}
.chart .chart-note{white-space:pre;fill:var(--chart-soft)}
.chart .chart-box rect{fill:var(--chart-card);stroke:var(--chart-edge);stroke-width:1.25}
.chart .chart-group rect{fill:var(--chart-sunk);stroke:var(--chart-edge)}
.chart .chart-any rect{fill:var(--chart-paper);stroke-dasharray:4 3}
.chart .chart-any .chart-title{font-style:italic;font-weight:400}
.chart .chart-box .chart-inner{fill:none}
.chart .chart-start circle{fill:var(--chart-ink)}
.chart .chart-line{fill:none;stroke:var(--chart-line);stroke-width:1.5}
.chart .chart-head{fill:var(--chart-line)}
.chart .chart-label rect{fill:var(--chart-paper);stroke:var(--chart-hair)}
.chart .chart-event{font-weight:500}
.chart .chart-guard{fill:var(--chart-soft);font-weight:400;white-space:pre}
.chart .chart-active>rect{stroke:var(--chart-accent);stroke-width:2}
.chart .chart-active:not(.chart-group)>rect:first-of-type{fill:var(--chart-accent-soft)}
.chart .chart-chosen>rect{stroke:var(--chart-accent);stroke-width:2.5}
.chart .chart-last .chart-line{stroke:var(--chart-accent);stroke-width:2.5}
.chart .chart-last .chart-head,.chart .chart-event.chart-last,.chart .chart-event.chart-last .chart-guard{fill:var(--chart-accent)}
`;

/** The colours of a chart that stands alone, in the light and the dark theme of its reader. */
export const CHART_COLORS = `
.chart{--chart-paper:#f8fafa;--chart-card:#fff;--chart-sunk:#eff3f4;--chart-edge:#7d8d91;--chart-hair:#d5dcdd;--chart-line:#6d7f84;--chart-ink:#14211f;--chart-soft:#485a5d;--chart-accent:#006a80;--chart-accent-soft:#dcf1f5}
@media (prefers-color-scheme:dark){.chart{--chart-paper:#0e1719;--chart-card:#172123;--chart-sunk:#121c1e;--chart-edge:#6f8286;--chart-hair:#334246;--chart-line:#82969b;--chart-ink:#e9f0f0;--chart-soft:#a9b9bc;--chart-accent:#58d5dd;--chart-accent-soft:#143a41}}
`;
