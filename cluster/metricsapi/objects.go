package metricsapi

import (
	"context"
	"errors"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	rbacclient "k8s.io/client-go/kubernetes/typed/rbac/v1"
	clientrest "k8s.io/client-go/rest"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiserviceclient "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/typed/apiregistration/v1"
	"k8s.io/metrics/pkg/apis/metrics"
)

// apiService names no Service: the group is served here, and always available. It lacks the label of those that the
// server keeps as they are, so that a user can replace it for good.
func apiService() *v1.APIService {
	return &v1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: version.Version + "." + version.Group},
		Spec: v1.APIServiceSpec{
			Group: version.Group, Version: version.Version, GroupPriorityMinimum: priority, VersionPriority: priority,
		},
	}
}

// readerRole is what metrics-server's manifest has: users who may view, edit or administer may read metrics.
func readerRole() *rbacv1.ClusterRole {
	const aggregate, yes = "rbac.authorization.k8s.io/aggregate-to-", "true"
	return &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{
			Name:   "system:aggregated-metrics-reader",
			Labels: map[string]string{aggregate + "view": yes, aggregate + "edit": yes, aggregate + "admin": yes},
		},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{metrics.GroupName}, Resources: []string{"pods", "nodes"}, Verbs: []string{"get", "list", "watch"},
		}},
	}
}

// Ensure makes the APIService and the role where there are none of their names: in the cluster that the seed is
// recorded from, and in a durable one that began with a program without this API. Those that are there stay as they
// are.
func Ensure(ctx context.Context, config *clientrest.Config) error {
	services, err := apiserviceclient.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client of APIServices: %w", err)
	}
	roles, err := rbacclient.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client of roles: %w", err)
	}
	service, role := apiService(), readerRole()
	return errors.Join(
		ensure(ctx, service.Name, service, services.APIServices().Get, services.APIServices().Create),
		ensure(ctx, role.Name, role, roles.ClusterRoles().Get, roles.ClusterRoles().Create),
	)
}

func ensure[T any](ctx context.Context, name string, wanted T,
	get func(context.Context, string, metav1.GetOptions) (T, error), create func(context.Context, T, metav1.CreateOptions) (T, error),
) error {
	_, err := get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = create(ctx, wanted, metav1.CreateOptions{})
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make %s: %w", name, err)
	}
	return nil
}
