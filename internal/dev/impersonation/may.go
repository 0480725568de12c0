package impersonation

import (
	"cmp"
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// Username is the user that a ServiceAccount is.
func Username(namespace, account string) string {
	return "system:serviceaccount:" + namespace + ":" + account
}

// impersonates reports whether a configuration impersonates a user by itself, as that of a kubeconfig with "as" does.
func impersonates(config *rest.Config) bool {
	i := config.Impersonate
	return i.UserName != "" || i.UID != "" || len(i.Groups) > 0 || len(i.Extra) > 0
}

// MayImpersonate asks the cluster whether the configuration's user may impersonate a ServiceAccount, and says why not.
// A door without groups needs no other right: the API server gives a ServiceAccount its groups
// (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation). Since Kubernetes 1.36 a
// user's right may be bound to certain requests (https://kep.k8s.io/5284); then the answer is true, and the API server
// refuses the others.
func MayImpersonate(ctx context.Context, config *rest.Config, namespace, account string) (may bool, why string, err error) {
	if impersonates(config) {
		return false, "the kubeconfig impersonates " + cmp.Or(config.Impersonate.UserName, "a group") + " already", nil
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return false, "", fmt.Errorf("ask whether ServiceAccount %s/%s may be impersonated: %w", namespace, account, err)
	}
	for _, right := range []authorizationv1.ResourceAttributes{
		{Verb: "impersonate"},
		{Verb: "impersonate:serviceaccount", Group: "authentication.k8s.io"},
	} {
		right.Resource, right.Namespace, right.Name = "serviceaccounts", namespace, account
		status, err := review(ctx, client, &right)
		switch {
		case err != nil:
			return false, "", fmt.Errorf("ask whether ServiceAccount %s/%s may be impersonated: %w", namespace, account, err)
		case status.Allowed:
			return true, "", nil
		}
		why = cmp.Or(why, status.Reason, status.EvaluationError)
	}
	return false, cmp.Or(why, "no rule allows the verb impersonate for the ServiceAccount"), nil
}

// review asks the cluster whether the client's user has a right.
func review(ctx context.Context, client dynamic.Interface, right *authorizationv1.ResourceAttributes) (status authorizationv1.SubjectAccessReviewStatus, err error) {
	question, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&authorizationv1.SelfSubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: authorizationv1.SchemeGroupVersion.String(), Kind: "SelfSubjectAccessReview"},
		Spec:     authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: right},
	})
	if err != nil {
		return status, err
	}
	reviews := client.Resource(authorizationv1.SchemeGroupVersion.WithResource("selfsubjectaccessreviews"))
	answer, err := reviews.Create(ctx, &unstructured.Unstructured{Object: question}, metav1.CreateOptions{})
	if err != nil {
		return status, err
	}
	var review authorizationv1.SelfSubjectAccessReview
	err = runtime.DefaultUnstructuredConverter.FromUnstructured(answer.Object, &review)
	return review.Status, err
}
