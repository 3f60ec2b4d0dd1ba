/** Finds the route of a request and answers it: every outcome is an answer, a problem too. */
import { type ApiRequest, type ApiResponse, withoutBody } from './api-message.ts';
import { ApiProblem } from './problem.ts';
import { type ApiDeps, type Route, readQuery } from './route.ts';

interface Target {
  readonly segments: readonly string[];
  readonly byMethod: Map<string, Route>;
}

/** Answers requests. */
export type Router = (request: ApiRequest) => Promise<ApiResponse>;

/**
 * Makes a router.
 * The router throws an ApiProblem for what is wrong with a request, and whatever a port throws.
 */
export function createRouter(routes: readonly Route[], deps: ApiDeps): Router {
  const targets = toTargets(routes);
  return async (request) => {
    const segments = request.path.split('/');
    const target = targets.find((candidate) => matches(candidate.segments, segments));
    if (!target) throw new ApiProblem('UNKNOWN_ROUTE', `There is nothing at ${request.path}.`);
    const isHead = request.method === 'HEAD';
    const route = target.byMethod.get(isHead ? 'GET' : request.method);
    if (!route) throw methodNotAllowed(request, target);
    const response = await route.handle({
      deps,
      request,
      query: readQuery(request.query, route.query ?? {}),
      pathPart: (name) => segments[target.segments.indexOf(`{${name}}`)] as string,
    });
    return isHead ? withoutBody(response) : response;
  };
}

function toTargets(routes: readonly Route[]): Target[] {
  const targets = new Map<string, Target>();
  for (const route of routes) {
    const target = targets.get(route.path) ?? { segments: route.path.split('/'), byMethod: new Map() };
    target.byMethod.set(route.method, route);
    targets.set(route.path, target);
  }
  return [...targets.values()];
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((part, at) => (part.startsWith('{') ? segments[at] !== '' : part === segments[at]));
}

function methodNotAllowed(request: ApiRequest, target: Target): ApiProblem {
  const methods = [...target.byMethod.keys()];
  if (methods.includes('GET')) methods.push('HEAD');
  const allow = methods.join(', ');
  const detail = `${request.path} takes ${allow}, not ${request.method}.`;
  return new ApiProblem('METHOD_NOT_ALLOWED', detail, { headers: { allow } });
}
