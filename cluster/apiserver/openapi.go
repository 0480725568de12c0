package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/mux"
	"k8s.io/apiserver/pkg/server/routes"
	"k8s.io/kube-aggregator/pkg/controllers/openapiv3/aggregator"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// documents serves the OpenAPI documents of the built-in groups beside those that the
// server has without them: of custom resources, and of other servers' APIs.
//
// Upstream describes and renders all built-in groups before it serves, a third of the start's CPU time and of its
// memory, though most clusters are never asked for one: what validates custom resources and merges applied objects
// knows the types from elsewhere. Here the first request for a document describes what it holds: of version 3, whose
// list is made without the documents, so that an entry has no hash and clients ask whether the document that they have
// is current; and of version 2, one document for everything, in openapi_v2.go.
//
// The counterparts are PrepareRun in k8s.io/apiserver/pkg/server and in k8s.io/kube-aggregator/pkg/apiserver.
type documents struct {
	routes             routes.OpenAPI
	groups, extensions *server.GenericAPIServer // serve the built-in groups; custom resources
	front              *server.GenericAPIServer // serves APIServices
	rendered           func() http.Handler
}

// deferDocuments takes the built-in groups' documents out of the server's start. The configuration must have been
// completed, and no server made of it.
func deferDocuments(config *app.Config) *documents {
	groups, extensions, front := config.KubeAPIs.ControlPlane.Generic, config.ApiExtensions.GenericConfig, config.Aggregator.GenericConfig
	d := &documents{routes: routes.OpenAPI{Config: groups.OpenAPIConfig, V3Config: groups.OpenAPIV3Config}}
	d.rendered = sync.OnceValue(d.describe)
	groups.SkipOpenAPIInstallation = true // the types remain known
	extensions.OpenAPIConfig = nil        // version 2
	front.OpenAPIConfig = describingNothing(front.OpenAPIConfig)
	chain := front.BuildHandlerChainFunc
	front.BuildHandlerChainFunc = func(api http.Handler, c *server.Config) http.Handler {
		return chain(d.before(api), c)
	}
	return d
}

// attach gives the documents the assembled servers, and is called before those run.
func (d *documents) attach(front *server.GenericAPIServer) error {
	groups, ok := front.NextDelegate().(*server.GenericAPIServer)
	if !ok {
		return fmt.Errorf("the server behind the aggregator is a %T", front.NextDelegate())
	}
	extensions, ok := groups.NextDelegate().(*server.GenericAPIServer)
	if !ok {
		return fmt.Errorf("the server behind that of the built-in groups is a %T", groups.NextDelegate())
	}
	d.front, d.groups, d.extensions = front, groups, extensions
	d.installV2()
	return nil
}

// root is the path of the list of documents, and with a slash the beginning of all their paths.
const root = "/openapi/v3"

// before answers requests for documents and leaves others to api.
func (d *documents) before(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		group, below := strings.CutPrefix(r.URL.Path, root+"/")
		switch {
		case r.URL.Path == root:
			d.serveList(w, api)
		case below && d.builtIn()[group]:
			d.rendered().ServeHTTP(w, r)
		default:
			api.ServeHTTP(w, r)
		}
	})
}

// serveList adds the built-in groups to what api lists.
func (d *documents) serveList(w http.ResponseWriter, api http.Handler) {
	others := aggregator.NewDownloader()
	list, status, err := others.OpenAPIV3Root(api)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("status %d", status)
	}
	if err != nil {
		http.Error(w, fmt.Sprintf("list the OpenAPI documents: %v", err), http.StatusInternalServerError)
		return
	}
	for group := range d.builtIn() {
		list.Paths[group] = handler3.OpenAPIV3DiscoveryGroupVersion{ServerRelativeURL: root + "/" + group}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list) // the client has gone
}

// builtIn says which paths are those of built-in groups, such as apis/apps/v1.
func (d *documents) builtIn() map[string]bool {
	groups := map[string]bool{}
	for _, service := range d.groups.Handler.GoRestfulContainer.RegisteredWebServices() {
		groups[strings.TrimPrefix(service.RootPath(), "/")] = true
	}
	return groups
}

// describe makes the documents; each is rendered when it is asked for.
func (d *documents) describe() http.Handler {
	rendered := mux.NewPathRecorderMux("openapi")
	d.routes.InstallV3(d.groups.Handler.GoRestfulContainer, rendered)
	return rendered
}
