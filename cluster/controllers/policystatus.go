package controllers

import (
	"context"
	"fmt"
	"sync"

	crds "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/controller/validatingadmissionpolicystatus"
	"k8s.io/kubernetes/pkg/generated/openapi"
)

// newPolicyStatus writes what type checks find in a ValidatingAdmissionPolicy to its status.
//
// Upstream: cmd/kube-controller-manager/app/validatingadmissionpolicystatus.go.
func newPolicyStatus(_ context.Context, d *Deps) (Loop, error) {
	const name = "validatingadmissionpolicy-status-controller"
	client, err := d.client(name)
	if err != nil {
		return nil, err
	}
	served, err := discovery.NewDiscoveryClientForConfig(d.config(name))
	if err != nil {
		return nil, fmt.Errorf("make the discovery client of %s: %w", name, err)
	}
	types := &validating.TypeChecker{RestMapper: d.Mapper, SchemaResolver: lateResolver(sync.OnceValue(func() resolver.SchemaResolver {
		return resolver.NewDefinitionsSchemaResolver(openapi.GetOpenAPIDefinitions, scheme.Scheme, crds.Scheme).
			Combine(&resolver.ClientDiscoveryResolver{Discovery: served})
	}))}
	c, err := validatingadmissionpolicystatus.NewController(d.Informers.Admissionregistration().V1().ValidatingAdmissionPolicies(),
		client.AdmissionregistrationV1().ValidatingAdmissionPolicies(), types)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

// lateResolver makes its resolver with the first policy: the definitions of all built-in types take long, and most
// clusters have no policy.
type lateResolver func() resolver.SchemaResolver

// ResolveSchema is the resolver's.
func (r lateResolver) ResolveSchema(gvk schema.GroupVersionKind) (*spec.Schema, error) {
	return r().ResolveSchema(gvk)
}
