package main

import (
	"fmt"
	"slices"
)

// project is a module whose packages' tests start a control plane.
type project struct {
	name     string
	module   string // path, with a version if it is not the one that this module pins
	packages []string
}

// projects are those that can be named, controller-runtime first; the others are operators.
var projects = []project{
	{"controller-runtime", "sigs.k8s.io/controller-runtime", []string{
		"pkg/client", "pkg/client/apiutil", "pkg/cache", "pkg/envtest", "pkg/manager", "pkg/manager/internal/integration",
		"pkg/webhook", "pkg/builder", "pkg/cluster", "pkg/controller", "pkg/controller/controllerutil", "pkg/handler",
		"pkg/internal/controller", "pkg/internal/recorder", "pkg/metrics/filters", "pkg/reconcile", "pkg/source",
	}},
	{"jobset", "sigs.k8s.io/jobset@v0.12.0", []string{"test/integration/controller", "test/integration/webhook"}},
	{"kuberay", "github.com/ray-project/kuberay/ray-operator@v1.5.0", []string{"controllers/ray", "pkg/webhooks/v1"}},
	{"lws", "sigs.k8s.io/lws@v0.8.0", []string{"test/integration/controllers", "test/integration/webhooks"}},
	{"rabbitmq", "github.com/rabbitmq/cluster-operator/v2@v2.16.0", []string{"api/v1beta1", "controllers"}},
}

// choose reads a command line: nothing, `operators`, or a project and those of its packages that are meant.
func choose(args []string) ([]project, error) {
	if len(args) == 0 {
		return projects[:1], nil
	}
	if args[0] == "operators" && len(args) == 1 {
		return projects[1:], nil
	}
	i := slices.IndexFunc(projects, func(p project) bool { return p.name == args[0] })
	if i < 0 {
		return nil, fmt.Errorf("there is no project %q", args[0])
	}
	p := projects[i]
	for _, pkg := range args[1:] {
		if !slices.Contains(p.packages, pkg) {
			return nil, fmt.Errorf("%s has no suite in %q; it has some in %q", p.name, pkg, p.packages)
		}
	}
	if len(args) > 1 {
		p.packages = args[1:]
	}
	return []project{p}, nil
}
