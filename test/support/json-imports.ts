import { registerHooks } from 'node:module';

/** Lets Node import JSON without `type: 'json'`, as bundlers do and @actions/workflow-parser expects. */
registerHooks({
  load: (url, context, nextLoad) =>
    nextLoad(
      url,
      url.endsWith('.json')
        ? { ...context, importAttributes: { ...context.importAttributes, type: 'json' } }
        : context,
    ),
});
