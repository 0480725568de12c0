package clustertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// grant is a role that an account holds, with its binding.
type grant struct {
	role, binding *unstructured.Unstructured
	rules         []rule
	policy        []rbacv1.PolicyRule
}

// accountLabel is on the roles and bindings of an account, with its name.
const accountLabel = "clustertest.slipway.dev/account"

// newGrant makes of a role one that only a holds: tests that run beside each other read the same files.
func newGrant(role *unstructured.Unstructured, a *Account) (grant, error) {
	var typed rbacv1.ClusterRole // a Role has the same rules
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(role.Object, &typed); err != nil {
		return grant{}, fmt.Errorf("%s %s: %w", role.GetKind(), role.GetName(), err)
	}
	own := role.DeepCopy()
	binding := &unstructured.Unstructured{Object: map[string]any{"apiVersion": own.GetAPIVersion(), "kind": own.GetKind() + "Binding"}}
	if own.GetKind() == "ClusterRole" {
		own.SetName(a.Namespace + "-" + role.GetName())
	} else {
		own.SetNamespace(a.Namespace)
		binding.SetNamespace(a.Namespace)
	}
	binding.SetName(own.GetName())
	own.SetLabels(map[string]string{accountLabel: a.Name})
	binding.SetLabels(own.GetLabels())
	binding.Object["roleRef"] = map[string]any{"apiGroup": rbacv1.GroupName, "kind": own.GetKind(), "name": own.GetName()}
	binding.Object["subjects"] = []any{map[string]any{"kind": "ServiceAccount", "namespace": a.Namespace, "name": a.Name}}
	return grant{own, binding, rulesOf(typed.Rules), typed.Rules}, nil
}

// bind creates a role and its binding.
func (a *Account) bind(ctx context.Context, g grant) error {
	for _, o := range []*unstructured.Unstructured{g.role, g.binding} {
		if _, err := a.roles(o).Create(ctx, o, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// effective waits until a role that was bound permits all that it is for: the API server learns of both by watches. A
// role that collects the rules of others is not waited for.
func (a *Account) effective(ctx context.Context, g grant) error {
	if _, collects := g.role.Object["aggregationRule"]; collects {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, effectTime)
	defer cancel()
	for _, p := range g.policy {
		spec := authorizationv1.SubjectAccessReviewSpec{User: a.user()}
		switch {
		case len(p.Verbs) == 0:
			continue
		case len(p.NonResourceURLs) > 0:
			spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Path: p.NonResourceURLs[0], Verb: p.Verbs[0]}
		case len(p.APIGroups) > 0 && len(p.Resources) > 0:
			resource, subresource, _ := strings.Cut(p.Resources[0], "/")
			spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
				Namespace: g.role.GetNamespace(), Verb: p.Verbs[0], Group: p.APIGroups[0], Version: "*", Resource: resource, Subresource: subresource,
			}
			if len(p.ResourceNames) > 0 {
				spec.ResourceAttributes.Name = p.ResourceNames[0]
			}
		default:
			continue
		}
		if err := until(ctx, func(ctx context.Context) (bool, error) { return a.cluster.allows(ctx, spec) }); err != nil {
			return err
		}
	}
	return nil
}

// allows reports whether a user may do something.
func (c *Cluster) allows(ctx context.Context, spec authorizationv1.SubjectAccessReviewSpec) (bool, error) {
	ask, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&authorizationv1.SubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: authorizationv1.SchemeGroupVersion.String(), Kind: "SubjectAccessReview"}, Spec: spec,
	})
	if err != nil {
		return false, err
	}
	answer, err := c.dynamic.Resource(reviewResource).Create(ctx, &unstructured.Unstructured{Object: ask}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	allowed, _, err := unstructured.NestedBool(answer.Object, "status", "allowed")
	return allowed, err
}

// effectTime bounds the wait for a role to take effect, which takes milliseconds.
const effectTime = 30 * time.Second

// reviewResource answers whether a user may do something.
var reviewResource = authorizationv1.SchemeGroupVersion.WithResource("subjectaccessreviews")

// revoke deletes what bind created.
func (a *Account) revoke(ctx context.Context, g grant) error {
	for _, o := range []*unstructured.Unstructured{g.binding, g.role} {
		if err := a.roles(o).Delete(ctx, o.GetName(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return a.failed("take "+o.GetName()+" from", err)
		}
	}
	return nil
}

// roles returns the resource of a role or binding.
func (a *Account) roles(o *unstructured.Unstructured) dynamic.ResourceInterface {
	r := a.cluster.dynamic.Resource(rbacVersion.WithResource(strings.ToLower(o.GetKind()) + "s"))
	if o.GetNamespace() == "" {
		return r
	}
	return r.Namespace(o.GetNamespace())
}

// rule permits one verb on one resource, or on all where it says "*".
type rule struct {
	verb     string
	resource schema.GroupResource // with its subresource, after a slash
}

// rulesOf takes rules apart. Rules for URLs are left out.
func rulesOf(policy []rbacv1.PolicyRule) (rules []rule) {
	for _, p := range policy {
		for _, group := range p.APIGroups {
			for _, resource := range p.Resources {
				for _, verb := range p.Verbs {
					rules = append(rules, rule{verb, schema.GroupResource{Group: group, Resource: resource}})
				}
			}
		}
	}
	return rules
}

// permits reports whether the rule is one by which a request is allowed. A watch that asks for what is there already
// stands for a list, too: informers list where an API server does not know such watches.
func (r rule) permits(q Request) bool {
	resource := q.Resource
	if q.Subresource != "" {
		resource += "/" + q.Subresource
	}
	verbs := []string{"*", q.Verb}
	if q.Verb == "watch" && q.query().Get("sendInitialEvents") == "true" {
		verbs = append(verbs, "list")
	}
	return slices.Contains(verbs, r.verb) && slices.Contains([]string{"*", q.Group}, r.resource.Group) &&
		slices.Contains([]string{"*", resource, "*/" + q.Subresource}, r.resource.Resource)
}

// String is the rule as kubectl auth would print it.
func (r rule) String() string { return r.verb + " " + r.resource.String() }
