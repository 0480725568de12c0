package generate

import "strings"

// realProject is a project that people use.
type realProject struct {
	module string // with its version
	// nested are modules that its go.mod replaces by folders of the same repository, by folder. The module proxy keeps
	// them apart.
	nested map[string]string
	calls  []realCall
	longer bool // on the longer list only
	// exempt marks interfaces as none of object's: it was not made for this project, and neither program copies them.
	exempt bool
}

// realCall is one call of the generators, which all must write something.
type realCall struct {
	generators []string // crd, object, rbac, webhook, or schemapatch:manifests=DIR
	patterns   []string
	// mistaken says which mistakes controller-gen finds in the project: both programs must fail, and tell the same
	// places.
	mistaken string
	// crashes is set where controller-gen panics, and we do not.
	crashes bool
	// instances is that types in DeepCopy methods have type arguments, which controller-gen leaves out.
	instances bool
}

// call makes a call of words: the generators, then the patterns.
func call(generators, patterns string) realCall {
	return realCall{generators: strings.Fields(generators), patterns: strings.Fields(patterns)}
}

// mistaken is a call with which both programs fail.
func mistaken(generators, patterns, why string) realCall {
	c := call(generators, patterns)
	c.mistaken = why
	return c
}

// withInstances is a call for code with instances of generic types.
func withInstances(generators, patterns string) realCall {
	c := call(generators, patterns)
	c.instances = true
	return c
}

// realProjects are those whose modules, and all that they import, the module proxy has. Others were tried. The modules
// of external-secrets are not there by themselves; knative.dev/serving and istio.io/client-go require what is not
// there.
var realProjects = []realProject{
	{module: "github.com/fluxcd/source-controller/api@v1.6.2", calls: []realCall{call("crd object", "./...")}},
	{module: "sigs.k8s.io/karpenter@v1.8.0", calls: []realCall{call("crd object", "./pkg/apis/..."), call("schemapatch:manifests=pkg/apis/crds", "./pkg/apis/...")}},
	{module: "sigs.k8s.io/karpenter@v1.8.0", calls: []realCall{withInstances("crd object", "./...")}, longer: true},
	{module: "sigs.k8s.io/kueue@v0.14.0", calls: []realCall{
		call("crd object rbac webhook", "./..."),
		call("schemapatch:manifests=config/components/crd/bases", "./apis/..."),
	}, longer: true},
	{module: "github.com/kedacore/keda/v2@v2.21.0", calls: []realCall{call("crd object webhook", "./apis/...")}},
	{module: "github.com/kedacore/keda/v2@v2.21.0", calls: []realCall{
		call("crd object rbac webhook", "./apis/... ./controllers/... ./pkg/..."),
		call("schemapatch:manifests=config/crd/bases", "./apis/..."),
	}, longer: true},
	{module: "github.com/cloudnative-pg/cloudnative-pg@v1.27.0", calls: []realCall{
		call("crd object rbac webhook", "./..."),
		call("schemapatch:manifests=config/crd/bases", "./api/..."),
	}, longer: true},
	{module: "sigs.k8s.io/cluster-api@v1.14.2", nested: map[string]string{"api": "sigs.k8s.io/cluster-api/api@v1.14.2"}, calls: []realCall{
		call("object rbac webhook", "./..."),
		call("crd object", "./api/core/... ./api/bootstrap/... ./api/controlplane/..."),
		mistaken("crd", "./...", "fields without json tags"),
	}, longer: true},
	{module: "github.com/vmware-tanzu/velero@v1.17.0", calls: []realCall{
		call("crd object rbac", "./..."),
		call("schemapatch:manifests=config/crd/v1/bases", "./pkg/apis/velero/v1"),
	}, longer: true},
	{module: "github.com/crossplane/crossplane/v2@v2.0.2", calls: []realCall{
		call("crd object", "./..."),
		call("schemapatch:manifests=cluster/crds", "./apis/..."),
	}, longer: true},
	{module: "github.com/kyverno/kyverno@v1.19.1", calls: []realCall{
		call("crd object", "./api/..."),
		call("schemapatch:manifests=config/crds/kyverno", "./api/..."),
	}, longer: true},
	{module: "github.com/argoproj/argo-cd/v2@v2.14.21", calls: []realCall{
		call("crd object", "./pkg/apis/..."),
		call("schemapatch:manifests=manifests/crds", "./pkg/apis/..."),
	}, longer: true},
	{module: "github.com/cert-manager/cert-manager@v1.21.2", calls: []realCall{
		mistaken("object", "./pkg/apis/...", "an interface has no deep copy"),
		call("crd", "./pkg/apis/..."),
		call("schemapatch:manifests=deploy/crds", "./pkg/apis/..."),
	}, longer: true},
	{module: "github.com/cert-manager/cert-manager@v1.21.2", exempt: true, calls: []realCall{call("object", "./pkg/apis/...")}, longer: true},
	{module: "github.com/tektoncd/pipeline@v1.6.0", calls: []realCall{
		mistaken("object", "./pkg/apis/...", "interfaces have no deep copy"),
		call("crd", "./pkg/apis/..."),
		{generators: []string{"schemapatch:manifests=config/300-crds"}, patterns: []string{"./pkg/apis/pipeline/..."}, crashes: true},
	}, longer: true},
	{module: "github.com/tektoncd/pipeline@v1.6.0", exempt: true, calls: []realCall{call("object", "./pkg/apis/...")}, longer: true},
	{module: "sigs.k8s.io/gateway-api@v1.4.0", calls: []realCall{
		call("object", "./apis/... ./apisx/..."),
		mistaken("crd", "./apis/...", "markers of lists above what is none"),
	}, longer: true},
	{module: "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring@v0.94.0", calls: []realCall{call("crd object", "./...")}, longer: true},
	{module: "k8s.io/api@v0.37.0", calls: []realCall{call("object", "./...")}, longer: true},
}
