import { z } from 'zod';

/** The fields we use of GitHub's replies. */
export const Repository = z.object({
  full_name: z.string(),
  default_branch: z.string().nullish(),
  description: z.string().nullish(),
});

export const Tree = z.object({
  tree: z.array(
    z.object({
      path: z.string(),
      mode: z.string(),
      type: z.string(),
      sha: z.string(),
      size: z.number().optional(),
    }),
  ),
  truncated: z.boolean().default(false),
});

/** The fields of a file that is requested by its path, because the tree was too large to list it. */
export const Content = z.object({
  type: z.string(),
  sha: z.string(),
  size: z.number().default(0),
  target: z.string().nullish(),
});

const File = z.object({
  filename: z.string(),
  previous_filename: z.string().optional(),
  status: z.string(),
  additions: z.number(),
  deletions: z.number(),
  patch: z.string().optional(),
});
export type FileReply = z.infer<typeof File>;

const Person = z.object({ name: z.string().nullish(), date: z.string().nullish() }).nullish();

export const Commit = z.object({
  sha: z.string(),
  commit: z.object({ message: z.string(), author: Person }),
  files: z.array(File).optional(),
});
export type CommitReply = z.infer<typeof Commit>;

export const Comparison = z.object({
  total_commits: z.number(),
  commits: z.array(Commit),
  files: z.array(File).default([]),
});

export const PullRequests = z.array(z.object({ number: z.number(), merged_at: z.string().nullish() }));

export const CodeSearch = z.object({ items: z.array(z.object({ path: z.string() })) });

export const InstallationRepositories = z.object({ repositories: z.array(Repository) });

export const Blame = z.object({
  repository: z
    .object({
      object: z
        .object({
          blame: z
            .object({
              ranges: z.array(
                z.object({
                  startingLine: z.number(),
                  endingLine: z.number(),
                  commit: z.object({
                    oid: z.string(),
                    authoredDate: z.string(),
                    messageHeadline: z.string(),
                    author: z.object({ name: z.string().nullish() }).nullish(),
                  }),
                }),
              ),
            })
            .nullish(),
        })
        .nullish(),
    })
    .nullish(),
});
