// Command tenant is the operator that `slipway prove` is tested with: a correct one, and with --bug one that has a
// mistake as operators really have them. bugs lists the mistakes; each replaces one function of the correct operator.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func main() {
	bug := flag.String("bug", "", "the mistake that the operator makes; default: none")
	flag.Parse() // --kubeconfig is a flag of controller-runtime
	ctrl.SetLogger(klog.Background())
	if err := run(ctrl.SetupSignalHandler(), *bug); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run runs the operator until ctx ends.
func run(ctx context.Context, bug string) error {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	addToScheme(scheme)
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	o := newOperator(mgr.GetClient(), mgr.GetAPIReader())
	if bug != "" {
		plant, ok := bugs[bug]
		if !ok {
			return fmt.Errorf("unknown bug %q", bug)
		}
		plant(o, mgr)
	}
	noRecovery := false // a panic ends the process, as before controller-runtime v0.19
	if err := ctrl.NewControllerManagedBy(mgr).
		For(&Tenant{}).
		Owns(&corev1.Secret{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&corev1.Service{}).
		Owns(&appsv1.Deployment{}).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(tenantOfEntry)).
		WithOptions(controller.Options{RecoverPanic: &noRecovery}).
		Complete(o); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// tenantOfEntry is the tenant of a line in the registry, which is in another namespace and therefore has no owner.
func tenantOfEntry(_ context.Context, entry client.Object) []reconcile.Request {
	name, ok := entry.GetLabels()[tenantLabel]
	if entry.GetNamespace() != registry || !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: entry.GetAnnotations()[namespaceAnnotation], Name: name}}}
}
