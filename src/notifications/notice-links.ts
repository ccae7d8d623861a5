/** Addresses of our pages, for texts outside. All are null where nobody has said by which address people reach us. */
export interface NoticeLinks {
  build(id: string): string | null;
  analysis(id: string): string | null;
  run(analysisId: string): string | null;
  review(id: string): string | null;
  /** Lines of one log of a build; 1-based, the last included. */
  lines(buildId: string, source: string, lines: { readonly lineStart: number; readonly lineEnd: number }): string | null;
}

export function noticeLinks(publicUrl: string | null): NoticeLinks {
  const base = publicUrl?.replace(/\/$/, '') ?? null;
  const to = (folder: string) => (id: string) => (base === null ? null : `${base}/${folder}/${encodeURIComponent(id)}`);
  const log = to('logs');
  return {
    ...{ build: to('builds'), analysis: to('analyses'), run: to('runs'), review: to('review') },
    lines: (buildId, source, { lineStart, lineEnd }) => {
      const page = log(buildId);
      if (page === null) return null;
      return `${page}?file=${encodeURIComponent(source.toWellFormed())}&L=${lineStart}-${lineEnd}#L${lineStart}`;
    },
  };
}

/** A Markdown link of our own; nothing where there is no address. `words` are ours: foreign ones are neutralised before. */
export function markdownLink(words: string, address: string | null): string | null {
  return address === null ? null : `[${words}](${address.replaceAll('(', '%28').replaceAll(')', '%29')})`;
}
