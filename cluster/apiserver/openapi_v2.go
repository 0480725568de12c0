package apiserver

import (
	"fmt"
	"net/http"
	"sync"

	"k8s.io/apiserver/pkg/server"
	"k8s.io/kube-openapi/pkg/aggregator"
	"k8s.io/kube-openapi/pkg/builder"
	"k8s.io/kube-openapi/pkg/cached"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/common/restfuladapter"
	"k8s.io/kube-openapi/pkg/handler"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// rootV2 is the path of the one document of version 2, which kubectl falls back to where a kind has no document of
// version 3, as the kind List, and which older clients read.
//
// The server in front merges it, upstream's way, of its own part and of those that it downloads from the servers behind
// it and from others' when it is asked. Its own part is made before it serves, so that here it is empty; the built-in
// groups' server adds it to its own.
const rootV2 = "/openapi/v2"

// describingNothing is the configuration of a document without paths and types, though with the title.
func describingNothing(c *common.Config) *common.Config {
	empty := *c
	empty.IgnorePrefixes = []string{"/"}
	empty.GetDefinitions = func(common.ReferenceCallback) map[string]common.OpenAPIDefinition { return nil }
	return &empty
}

// installV2 lets the servers behind that in front have parts of the document, made at the first request.
func (d *documents) installV2() {
	builtIn := handler.NewOpenAPIServiceLazy(cached.Once(cached.Func(d.builtInV2)))
	builtIn.RegisterOpenAPIVersionedService(rootV2, d.groups.Handler.NonGoRestfulMux)

	// The controller that upstream runs for custom resources adds them to the static part whenever the document is
	// asked for.
	static := &spec.Swagger{}
	d.extensions.StaticOpenAPISpec = static
	d.extensions.OpenAPIVersionedService = handler.NewOpenAPIServiceLazy(cached.Static(static, "without custom resources"))
	custom := &lateHandler{prepare: sync.OnceValue(func() error {
		own, err := d.describeV2(d.extensions)
		if err == nil {
			*static = *own
		}
		return err
	})}
	d.extensions.OpenAPIVersionedService.RegisterOpenAPIVersionedService(rootV2, custom)
	d.extensions.Handler.NonGoRestfulMux.Handle(rootV2, custom)
}

// A lateHandler prepares before it has a request answered.
type lateHandler struct {
	prepare func() error
	handler http.Handler
}

// Handle makes h what answers.
func (l *lateHandler) Handle(_ string, h http.Handler) { l.handler = h }

func (l *lateHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := l.prepare(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	l.handler.ServeHTTP(w, r)
}

// builtInV2 describes APIServices and the built-in groups, and names what it returns.
func (d *documents) builtInV2() (*spec.Swagger, string, error) {
	all, err := d.describeV2(d.front)
	if err != nil {
		return nil, "", err
	}
	groups, err := d.describeV2(d.groups)
	if err != nil {
		return nil, "", err
	}
	if err := aggregator.MergeSpecsIgnorePathConflictRenamingDefinitionsAndParameters(all, groups); err != nil {
		return nil, "", fmt.Errorf("merge the OpenAPI document of version 2: %w", err)
	}
	return all, "built-in groups", nil
}

// describeV2 is the part of one server's own APIs; the counterpart is InstallV2 in k8s.io/apiserver/pkg/server/routes.
func (d *documents) describeV2(s *server.GenericAPIServer) (*spec.Swagger, error) {
	services := s.Handler.GoRestfulContainer.RegisteredWebServices()
	document, err := builder.BuildOpenAPISpecFromRoutes(restfuladapter.AdaptWebServices(services), d.routes.Config)
	if err != nil {
		return nil, fmt.Errorf("describe the API by OpenAPI, version 2: %w", err)
	}
	document.Definitions = handler.PruneDefaults(document.Definitions)
	return document, nil
}
