package stock

import (
	"context"
	"fmt"
	"time"
	_ "unsafe" // for go:linkname

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/apis/rbac"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	schedulingv1 "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	rbacrest "k8s.io/kubernetes/pkg/registry/rbac/rest"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

// How long a hook tries, and how often. Upstream's wait a second before their first try, which is a third of a start.
const (
	hookTime  = 30 * time.Second
	hookPause = 50 * time.Millisecond
)

// A hook is a start-up hook of an API group.
type hook struct {
	group, name string
	run         genericapiserver.PostStartHookFunc
}

// promptHooks are upstream's slow start-up hooks, without the second that they sleep first.
func promptHooks() []hook {
	return []hook{
		{rbac.GroupName, rbacrest.PostStartHookName, promptly("initialize roles", func(_ context.Context, client kubernetes.Interface) (bool, error) {
			return ensureRBACPolicy(bootstrapPolicy(), client)
		})},
		{scheduling.GroupName, "scheduling/bootstrap-system-priority-classes", promptly("add the system priority classes", ensurePriorityClasses)},
	}
}

// promptly makes a hook that tries at once and then again and again. That it fails ends the server, as upstream.
func promptly(what string, try func(context.Context, kubernetes.Interface) (bool, error)) genericapiserver.PostStartHookFunc {
	return func(hook genericapiserver.PostStartHookContext) error {
		client, err := kubernetes.NewForConfig(hook.LoopbackClientConfig)
		if err != nil {
			return fmt.Errorf("unable to %s: %w", what, err)
		}
		err = wait.PollUntilContextTimeout(hook.Context, hookPause, hookTime, true, func(ctx context.Context) (bool, error) { return try(ctx, client) })
		if err != nil && hook.Err() == nil {
			return fmt.Errorf("unable to %s: %w", what, err)
		}
		return nil
	}
}

// ensureRBACPolicy is what upstream's hook does at each try; k8s.io/kubernetes/pkg/registry/rbac/rest/storage_rbac.go.
//
// Upstream exports only the hook, which sleeps a second first. The seed of package seed does not serve here: it is
// written as keys into a store that is empty and our own, while this server is given somebody's etcd, which may hold a
// cluster, and its flags choose how objects are stored. Rules that a cluster lacks are added and those that were
// changed reconciled, for six kinds with their aggregation, which is too much to say twice. If upstream moves the
// function, the program does not link.
//
//go:linkname ensureRBACPolicy k8s.io/kubernetes/pkg/registry/rbac/rest.ensureRBACPolicy
func ensureRBACPolicy(*rbacrest.PolicyData, kubernetes.Interface) (done bool, err error)

// bootstrapPolicy is the policy that upstream's hook is made with, in PostStartHook of the same file.
func bootstrapPolicy() *rbacrest.PolicyData {
	return &rbacrest.PolicyData{
		ClusterRoles:               append(bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles()...),
		ClusterRoleBindings:        append(bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings()...),
		Roles:                      bootstrappolicy.NamespaceRoles(),
		RoleBindings:               bootstrappolicy.NamespaceRoleBindings(),
		ClusterRolesToAggregate:    bootstrappolicy.ClusterRolesToAggregate(),
		ClusterRoleBindingsToSplit: bootstrappolicy.ClusterRoleBindingsToSplit(),
	}
}

// ensurePriorityClasses is the counterpart of AddSystemPriorityClasses in
// k8s.io/kubernetes/pkg/registry/scheduling/rest.
func ensurePriorityClasses(ctx context.Context, client kubernetes.Interface) (done bool, err error) {
	classes := client.SchedulingV1().PriorityClasses()
	for _, class := range schedulingv1.SystemPriorityClasses() {
		_, err := classes.Get(ctx, class.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			_, err = classes.Create(ctx, class, metav1.CreateOptions{})
		}
		switch {
		case err == nil || apierrors.IsAlreadyExists(err):
		case apierrors.IsForbidden(err) || apierrors.IsInvalid(err):
			return false, err // no try will help
		default:
			klog.Warningf("unable to add the priority class %s: %v; retrying", class.Name, err)
			return false, nil
		}
	}
	return true, nil
}
