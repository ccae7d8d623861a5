# The service as one small image: compiled JavaScript, production packages, git for local clones, no shell tools of the build.
# Docker and `buildah build --format docker` keep the HEALTHCHECK; the OCI format has none. `scripts/release/image.ts` builds and tries it.
ARG BASE=docker.io/library/node:24-bookworm-slim
FROM ${BASE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without what only people and compilers read of them: source maps and types are a third of all.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && \
    find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

FROM ${BASE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json tsconfig.package.json ./
RUN npm ci --no-audit --no-fund && touch node_modules/.faultline-installed
COPY . .
RUN scripts/release/build-package

FROM ${BASE}
RUN apt-get update && apt-get install -y --no-install-recommends git ca-certificates && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/*
ENV NODE_ENV=production \
    NODE_DISABLE_COMPILE_CACHE=1 \
    FAULTLINE_HOST=0.0.0.0 \
    FAULTLINE_DATA_DIR=/var/lib/faultline
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json ./
RUN mkdir -p /var/lib/faultline && chown node:node /var/lib/faultline
VOLUME /var/lib/faultline
USER node
EXPOSE 4600 9464
# A small young generation: reading makes short-lived strings, and V8 would otherwise let a hundred megabytes of them stand.
ENTRYPOINT ["node", "--max-semi-space-size=16", "dist/src/cli/main.js"]
CMD ["serve"]
HEALTHCHECK --interval=15s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4600/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
